/** Sandbox toolkit: snapshots, regions, identity, SSH, ports and previews. */
import type { Rules } from './requirement.ts';

export const sandboxAccess: Rules = {
  'SBX-SNAP-01': 'CreateSnapshot requires name and image.',
  'SBX-SNAP-02': 'entrypoint is an optional array of strings.',
  'SBX-SNAP-03':
    'resources is an optional object with the keys cpu, memory, disk, gpu; platform defaults otherwise.',
  'SBX-SNAP-04': 'region_id is optional and defaults to the closest region.',
  'SBX-SNAP-05': 'CreateSnapshot returns the details of the snapshot; making it may go on for minutes.',
  'SBX-SNAP-06':
    'GetSnapshot takes a name or an ID and shows state, image, resources, entrypoint and timestamps.',
  'SBX-SNAP-07': 'ListSnapshots shows name, state, image and resources of each snapshot.',
  'SBX-SNAP-08': 'ListSnapshots shows total count, current page and total_pages.',
  'SBX-SNAP-09': 'ListSnapshots: page defaults to 1; page_size is 1 to 100 and defaults to 20.',

  'SBX-REGION-01':
    'ListRegions takes no parameter and gives the ID, name and location (country, city) of each.',
  'SBX-IDENT-01': 'WhoAmI takes no parameter and gives user ID, name and email of the key’s owner.',

  'SBX-SSH-01': 'CreateSshAccess gives host, port, username and access token, and when it expires.',
  'SBX-SSH-02': 'expires_in_minutes is an integer and defaults to 60.',
  'SBX-SSH-03': 'expires_in_minutes 0 makes a token that does not expire.',
  'SBX-SSH-04': 'An access token is in no log.',
  'SBX-SSH-05': 'A token gives access until it expires, and none after.',

  'SBX-PORTS-01': 'ListPorts gives number, state and name of each active port; `sandbox` is optional.',

  'SBX-PREVIEW-01': 'GetPortPreviewUrl requires sandbox and port.',
  'SBX-PREVIEW-02': 'signed defaults to false.',
  'SBX-PREVIEW-03': 'A standard URL answers only with the header x-sandbox-preview-token carrying the token.',
  'SBX-PREVIEW-04': 'A signed URL carries its authentication in the URL.',
  'SBX-PREVIEW-05':
    'expires_in_seconds is an integer, defaults to 3600, and is used only when signed is true.',
};
