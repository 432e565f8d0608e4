# Three commands to know: `make up`, `make quick` and `make test`. All first do whatever set-up the machine still lacks, so
# nothing else has to be run before them. `make up` and `make test` need root on Debian 12 or 13, `make quick` only npm.

export PATH := $(PATH):$(HOME)/.cargo/bin
NODE = "$$(setup/node-path.sh)"
CARGO = setup/processors/cargo.sh
# The compiler works while packages arrive.
AT_ONCE = $(MAKE) --no-print-directory --jobs

.PHONY: up quick test test-deep test-parts ci package-tools mutation-tools dozen cluster cluster-programs simulate mutate setup setup-checks build bundle rust-checks web packages pictures image documentdb-image built-in-images image-libraries oci-images docker-image images dist dist-arm64 s3-server helm lint bench bench-cluster bench-page generate sdk npm-registry dist-npm release machines machines-arm64 otel-collector prometheus xfsprogs model-clients compat compat-clients compat-frameworks python-tools python-builder dist-python grafana-schema clean

# Starts the service in the foreground, once it has shown that it works. What this machine lacks is said before
# anything is built.
up: setup
	@bin/sandhaven doctor --before-build
	@$(AT_ONCE)=2 build image
	@exec bin/sandhaven up --prove

# The fast loop, within a minute: types, formatting, lint, and the tests that start no program. `make quick T=catalog` leaves
# the tests with "catalog" in their path; the rest takes seconds, and is of everything always: tests run without types.
quick:
	@setup/locked.sh setup/node.sh
	@$(NODE) setup/quick.ts "$(T)"

# Formatting, lint, types, then every rule of the project once, on the real engine; ends with a line "N passed, N failed, N skipped".
test: setup-checks
	@$(AT_ONCE)=4 documentdb-image build rust-checks image s3-server prometheus xfsprogs image-libraries model-clients compat-clients dozen
	@setup/checks.sh

# The core under random callers, failures and kills, in virtual time: `make simulate STEPS=10000000`, or SEED=n to repeat.
simulate:
	@setup/locked.sh setup/node.sh
	@$(NODE) test/simulation/simulate.ts $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS)) $(if $(REPLICAS),--replicas $(REPLICAS))

# What repeats, soaks and widens those tests, in parts: `make test-deep PART=attacks`, and of it `RUN=hostile`, or the tests with a
# text in their path by T=text. Without PART all of them, which takes hours. `make test-parts` lists them, and when each last passed.
test-deep: setup-checks
	@$(NODE) test/deep/run.ts --part "$(PART)" --run "$(RUN)" --only "$(T)"

test-parts: setup
	@$(NODE) test/deep/run.ts --list

# What CI runs: `make test`, then the parts that prove what has changed, as far as there is time (CONTRIBUTING.md). BEGUN: when it began.
ci: test
	@$(NODE) test/deep/run.ts --changed --begun "$(BEGUN)"

# Such a Kubernetes in the foreground, with the address of its API and how to look around.
cluster: cluster-programs
	@exec $(NODE) test/cluster/main.ts

# What the tests of packages need besides.
package-tools: setup-checks
	@setup/apt.sh dpkg-dev groff-base lintian docker.io iptables

# What mutates the source.
mutation-tools:
	@setup/locked.sh setup/node.sh
	@setup/locked.sh test/mutation/install.sh

# The disks of those machines, into the cache: all, or `make machines SUITES=trixie`.
machines: setup-checks
	@setup/apt.sh qemu-system-x86 qemu-utils
	@SETUP_LOCK=machines setup/locked.sh $(NODE) setup/debian/machines/build.ts $(SUITES)

# The disk of that machine, into the cache.
machines-arm64: setup-checks
	@setup/apt.sh qemu-system-arm qemu-utils
	@SETUP_LOCK=arm64 setup/locked.sh $(NODE) setup/debian/machines/build.ts arm64 trixie

# The S3 server that tests of archives run against, into the cache.
s3-server: setup-checks
	@SETUP_LOCK=versitygw setup/locked.sh $(NODE) setup/go/versitygw.ts

# The registry of npm packages that tests publish to, into the cache.
npm-registry: setup-checks
	@SETUP_LOCK=verdaccio setup/locked.sh setup/npm/install-locked.sh test/npm-packages/verdaccio verdaccio

# The receiver of OpenTelemetry's collector, which tests of traces send to, into the cache.
otel-collector: setup-checks
	@SETUP_LOCK=otel-collector setup/locked.sh $(NODE) setup/go/otel-collector.ts

# Grafana's types of dashboards, which the dashboard is checked against, into the cache.
grafana-schema: setup-checks
	@SETUP_LOCK=grafana-schema setup/locked.sh setup/npm/install-locked.sh test/metrics/grafana grafana-schema

# Clients of language models, which tests of networks run, into the cache.
model-clients: setup-checks
	@SETUP_LOCK=model-clients setup/locked.sh test/network/clients/sdks/install.sh

# Clients of other products, of several generations, which tests of the surfaces for them run, into the cache.
compat-clients: setup-checks
	@SETUP_LOCK=compat-clients setup/locked.sh test/compat/clients/install.sh daytona-0.140 daytona-0.226 e2b-2.63

# Frameworks with such a client, and what their public suites need.
compat-frameworks: setup-checks
	@SETUP_LOCK=compat-clients setup/locked.sh test/compat/clients/install.sh langchain-daytona-0.0.7 e2b-frameworks e2b-suites e2b-verifiers
	@SETUP_LOCK=compat-clients setup/locked.sh setup/npm/install-locked.sh "$$PWD/test/compat/suites" compat-suites

# Their public suites where SANDHAVEN_COMPAT_SUITES has them, against a service: test/compat/expected.md.
compat: setup-checks
	@$(NODE) test/deep/run.ts --part compat --run "$(RUN)" --only "$(T)"

# A dozen of Debian's packages, with all that they draw in, which a test installs in the base image; into the cache.
dozen: setup-checks image
	@SETUP_LOCK=dozen setup/locked.sh $(NODE) setup/debian/dozen.ts

# Helm, which installs the chart in tests, into the cache.
helm: setup-checks
	@SETUP_LOCK=helm setup/locked.sh $(NODE) setup/go/helm.ts

# Prometheus, which scrapes a service in tests of the metrics, into the cache.
prometheus: setup-checks
	@SETUP_LOCK=prometheus setup/locked.sh $(NODE) setup/debian/prometheus.ts

# Programs that format and grow XFS, for tests of the disk store, into the cache.
xfsprogs: setup-checks
	@SETUP_LOCK=xfsprogs setup/locked.sh $(NODE) setup/debian/xfsprogs.ts

# Programs of the cluster, into the cache.
cluster-programs: setup-checks
	@SETUP_LOCK=cluster setup/locked.sh $(NODE) setup/cluster/build.ts

# Mutation tests of the areas in test/mutation/areas.ts; `make mutate A=model` runs one. Needs npm, and no root.
mutate: mutation-tools
	@$(NODE) test/mutation/mutate.ts "$(A)"

# What building and running need.
setup:
	@setup/locked.sh setup/setup.sh

# What the tests need besides.
setup-checks:
	@setup/locked.sh setup/setup.sh --checks

# The static binaries (the agent, the egress program, the launcher and the unpacker), the page, and the packages that the service
# gives to its users.
build: setup web packages bundle
	@$(CARGO) build --release --locked --quiet

# The program in few modules, into bundle/, when its sources have changed.
bundle: setup
	@SETUP_LOCK=bundle setup/locked.sh $(NODE) setup/bundle.ts

# Compiles what the checks of Rust need, while packages arrive. The checks report what is wrong.
rust-checks: setup-checks
	-@$(CARGO) test --workspace --locked --quiet --no-run 2>/dev/null
	-@$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings 2>/dev/null

# The page, into web/dist, when what it is made of has changed.
web: setup
	@SETUP_LOCK=web setup/locked.sh web/build/install.sh
	@SETUP_LOCK=web setup/locked.sh $(NODE) web/build/build.ts

# The packages that the service gives to its users, into packages/dist, when what they are made of has changed.
packages: python-builder
	@SETUP_LOCK=packages setup/locked.sh $(NODE) setup/release/served-packages.ts

# The pictures of the page in README.md, into docs/images.
pictures: setup-checks web
	@$(NODE) test/web/support/pictures.ts

# The standard base image, once per recipe, into the cache.
image: setup
	@setup/locked.sh $(NODE) setup/base-image.ts

# The document database that tests and `sandhaven demo-db` run, likewise. It shares nothing with the base image.
documentdb-image: setup
	@SETUP_LOCK=documentdb setup/locked.sh $(NODE) setup/documentdb-image.ts

# Both.
built-in-images: image documentdb-image

# Debian's libraries in the image of the service, into the cache.
image-libraries: setup
	@setup/locked.sh $(NODE) setup/images/fetch-libraries.ts

# The images for a cluster, as OCI layouts in dist/: the service, the agent and the base image of sandboxes.
oci-images: build image
	@setup/locked.sh $(NODE) setup/images/make-all.ts

# The Debian packages with their checksums, in dist/.
dist: build image
	@setup/apt.sh dpkg-dev
	@setup/locked.sh $(NODE) setup/debian/package/make-all.ts

# The same for arm64, on an amd64 machine too: the programs by a cross compiler, the base image by an emulated processor, which
# takes ten minutes or more, once.
dist-arm64: setup web packages
	@setup/apt.sh dpkg-dev
	@setup/processors/rust-target.sh aarch64
	@PROCESSOR=aarch64 $(CARGO) build --release --locked --quiet
	@SETUP_LOCK=arm64 setup/locked.sh $(NODE) setup/base-image.ts arm64
	@SETUP_LOCK=arm64 setup/locked.sh $(NODE) setup/debian/package/make-all.ts arm64

# The image with the whole service and its engine, in dist/: for `docker load`, and as an OCI layout.
docker-image: dist
	@setup/locked.sh $(NODE) setup/images/standalone/make.ts

# Every image.
images: built-in-images oci-images

lint: setup-checks
	@SETUP_LOCK=web setup/locked.sh web/build/install.sh
	@setup/checks.sh --static

# What is made from the catalogue of tools (the client of the TypeScript SDK, which `make setup` makes too; docs/tools.md), and the
# agent's copy of the filter of system calls. A test fails when it is stale.
generate: setup
	@$(NODE) setup/generate.ts

# The SDK as a package to install: sdk/sandhaven-sdk-….tgz.
sdk: setup
	@$(NODE) node_modules/.bin/tsc -p sdk/tsconfig.json
	@cd sdk && npm pack

# The npm packages: the SDK, the bridge for MCP clients and the command line, each with its bill of materials, into dist/.
dist-npm: setup
	@$(NODE) setup/release/dist-npm.ts

# `make release VERSION=1.2.3`: the version everywhere, the changelog, one commit and one tag; DRY_RUN=1 changes nothing.
release: setup
	@$(NODE) setup/release/set-version.ts "$(VERSION)" $(if $(DRY_RUN),--dry-run)
# Python with what builds and checks its package, into the cache.
python-tools: setup-checks
	@SETUP_LOCK=python setup/locked.sh sdk-python/build/install.sh --checks

# Python with what builds its package alone.
python-builder: setup
	@SETUP_LOCK=python setup/locked.sh sdk-python/build/install.sh

# The Python package to install: dist/sandhaven-…-py3-none-any.whl, and its source.
dist-python: python-builder
	@$(NODE) sdk-python/build/dist.ts

# Against a Docker engine on this machine.
bench: setup build image
	@$(NODE) bench/run.ts

# The page: how smoothly it scrolls, and what Lighthouse gives it.
bench-page: setup-checks web
	@setup/locked.sh bench/page/install.sh
	@$(NODE) bench/page/run.ts

# Two replicas on a Kubernetes of two nodes on this machine, beside Pods of the bare API.
bench-cluster: cluster-programs build image
	@$(NODE) bench/kubernetes/run.ts

# What was built here; the cache, the dependencies and the service's data stay.
clean:
	rm -rf dist bundle sdk/dist packages/dist packages/*/dist web/dist native/target bench/results .mutation
