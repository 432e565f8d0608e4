/** Code hosts at given addresses, which nothing asks: their addresses and names are what counts. */
import type { CodeHost } from '../../../src/control/ports/index.ts';
import { createGitHub } from '../../../src/provider/github.ts';
import { createGitLab } from '../../../src/provider/gitlab.ts';

interface Addresses {
  url: string;
  apiUrl: string;
}

const gitHub: Addresses = { url: 'https://github.com', apiUrl: 'https://api.github.com' };

export function gitHubAt(addresses: Addresses = gitHub): CodeHost {
  return createGitHub({ ...addresses, clientId: 'id', clientSecret: 'secret', app: null }, Date);
}

export function gitLabAt(url: string): CodeHost {
  return createGitLab({ url, apiUrl: `${url}/api/v4`, clientId: 'id', clientSecret: 'secret' }, Date);
}
