/** All facts for the doctor: of the command, and of a service that runs. */
import { Resolver } from 'node:dns/promises';
import type { DoctorFacts } from '../control/ports/doctor-facts.ts';
import { listenAddresses } from '../surfaces/cli/doctor/ports.ts';
import { readCertificate } from '../tls/certificate.ts';
import { doctorFacts } from './engine/engine.ts';
import { proveArchiveStore } from './engine/optional-parts.ts';
import { missingPublicNames } from './options/announce.ts';
import type { UpOptions } from './options/up-options.ts';

/** @param couldWriteDocuments Asks the document database; null without one. */
export function doctorFactsOf(
  options: UpOptions,
  couldWriteDocuments: DoctorFacts['couldWriteDocuments'],
): DoctorFacts {
  const { tls, archives } = options;
  return {
    ...doctorFacts(options.gpuKind, options.machineRuntime),
    addresses: listenAddresses(options),
    missingPublicNames: missingPublicNames(options),
    readCertificate: tls ? () => readCertificate(tls) : null,
    clientNames: options.compat.includes('e2b') ? clientNames(options) : null,
    proveArchiveStore: archives.s3 ? () => proveArchiveStore(archives) : null,
    couldWriteDocuments,
  };
}

const LOOK_UP_MS = 2_000;

function clientNames({ previewDomain, previewUrl, tls }: UpOptions): DoctorFacts['clientNames'] {
  return {
    domain: previewDomain,
    isTls: previewUrl ? previewUrl.protocol === 'https' : tls !== null,
    async lookUp(name) {
      const resolver = new Resolver({ timeout: LOOK_UP_MS, tries: 1 });
      return resolver.resolve4(name).catch(() => resolver.resolve6(name));
    },
  };
}
