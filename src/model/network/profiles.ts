/** Profiles: named lists of network rules, which policies keep by name. A change here counts for all that name it. */

export interface NetworkProfile {
  description: string;
  rules: readonly string[];
}

export const networkProfileNames = ['packages', 'git', 'llm'] as const;
export type NetworkProfileName = (typeof networkProfileNames)[number];

export const networkProfiles: Record<NetworkProfileName, NetworkProfile> = {
  packages: {
    description: 'Package registries of Python, JavaScript, Rust, Go, Ruby, Java, Debian, Ubuntu and Alpine.',
    rules: [
      'https://pypi.org',
      'https://files.pythonhosted.org',
      'https://registry.npmjs.org',
      'https://registry.yarnpkg.com',
      'https://index.crates.io',
      'https://static.crates.io',
      'https://crates.io',
      'https://proxy.golang.org',
      'https://sum.golang.org',
      'https://rubygems.org',
      'https://index.rubygems.org',
      'https://repo.maven.apache.org',
      'https://repo1.maven.org',
      'deb.debian.org',
      'security.debian.org',
      'archive.ubuntu.com',
      'security.ubuntu.com',
      'dl-cdn.alpinelinux.org',
    ],
  },
  git: {
    description: 'Code hosts, by https and SSH, with their archives and Git LFS.',
    rules: [
      'https://github.com',
      'tcp://github.com:22',
      'https://api.github.com',
      'https://codeload.github.com',
      'https://raw.githubusercontent.com',
      'https://objects.githubusercontent.com',
      'https://release-assets.githubusercontent.com',
      'https://github-cloud.githubusercontent.com',
      'https://gitlab.com',
      'tcp://gitlab.com:22',
      'https://bitbucket.org',
      'tcp://bitbucket.org:22',
      'https://api.bitbucket.org',
      'https://codeberg.org',
      'tcp://codeberg.org:22',
    ],
  },
  llm: {
    description: 'Interfaces of language models.',
    rules: [
      'https://api.anthropic.com',
      'https://api.openai.com',
      'https://generativelanguage.googleapis.com',
      'https://api.mistral.ai',
      'https://api.cohere.com',
      'https://api.groq.com',
      'https://api.deepseek.com',
      'https://api.x.ai',
      'https://openrouter.ai',
    ],
  },
};
