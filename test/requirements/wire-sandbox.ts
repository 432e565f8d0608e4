/** Wire shapes: the sandbox record and its life, snapshots, identity, SSH and previews. */
import type { Rules } from './requirement.ts';

export const wireSandbox: Rules = {
  'WIRE-BOX-01': 'id is sb_ and 16 of [0-9a-z], and is never reused.',
  'WIRE-BOX-02': 'A name that is not given is generated: two words and a number.',
  'WIRE-BOX-03':
    'A name is 1 to 63 of letters, digits, space, dot, underscore and hyphen, and does not begin with sb_.',
  'WIRE-BOX-04': 'A name is unique among its owner’s existing sandboxes; a taken one is already_exists.',
  'WIRE-BOX-05': 'state and status both hold the last settled state.',
  'WIRE-BOX-06': 'operation names work in progress and is absent otherwise.',
  'WIRE-BOX-07': 'state_reason says why a sandbox is in error, or stopped by other than a caller.',
  'WIRE-BOX-08':
    'snapshot is the name of the snapshot it came from, or null; image is base for the base image.',
  'WIRE-BOX-09': 'resources holds the integers cpu, memory, disk and gpu; gigabytes are GiB.',
  'WIRE-BOX-10': 'A redacted value reads [redacted]; the match is case-insensitive and anywhere in the key.',
  'WIRE-BOX-11': 'The record holds labels, the three auto settings, ephemeral, region_id and all timestamps.',
  'WIRE-BOX-12': 'env_vars come with GetSandbox only.',
  'WIRE-BOX-13': 'An env key is [A-Za-z_][A-Za-z0-9_]*; others are refused.',
  'WIRE-BOX-14': 'DeleteSandbox returns id, name and deleted: true.',
  'WIRE-BOX-15': 'A stop that deletes returns the sandbox with deleted: true.',
  'WIRE-BOX-16': 'ListSandboxes: newest first; a page past the end is empty, not an error.',
  'WIRE-BOX-17': 'A sandbox that is being created is not listed, and its name is taken.',
  'WIRE-BOX-18': 'Operations on one sandbox queue; delete goes first.',
  'WIRE-BOX-19': 'Resource parameters are checked for range even where a snapshot makes them ignored.',
  'WIRE-BOX-20': 'The base image is listed as the snapshot base, a reserved name.',
  'WIRE-BOX-21': 'All sandboxes together are held below the host’s memory less a reserve.',
  'WIRE-BOX-22': 'Too little free disk or memory, a passed quota, or no free gpu: resource_exhausted.',
  'WIRE-BOX-23': 'ListSandboxes gives sandboxes, total_count, page, page_size and total_pages.',
  'WIRE-BOX-24': 'With neither snapshot nor image, the four resource parameters apply.',
  'WIRE-BOX-25': 'cpu, memory and disk are ceilings of one sandbox and may be overcommitted.',

  'WIRE-AUTO-01': 'auto_stop_minutes below 0 is refused.',
  'WIRE-AUTO-02': 'auto_archive_minutes defaults to 10080; 0 means 43200; below 0 is refused.',
  'WIRE-AUTO-03': 'auto_delete_minutes defaults to -1; below -1 is refused.',
  'WIRE-AUTO-04': 'ConfigureSandboxAuto with nothing to change: invalid_argument.',
  'WIRE-AUTO-05': 'auto_delete_minutes 0 set on a stopped sandbox deletes it.',
  'WIRE-AUTO-06': 'A tool call that works in the sandbox is activity; a get or a list is not.',
  'WIRE-AUTO-07':
    'A running foreground or session command, a terminal, SSH or a proxied request is activity.',
  'WIRE-AUTO-08': 'Background processes alone are not activity.',

  'WIRE-STATE-01': 'StartSandbox on a started sandbox succeeds and changes nothing.',
  'WIRE-STATE-02': 'StopSandbox on a stopped sandbox succeeds and changes nothing.',
  'WIRE-STATE-03': 'ArchiveSandbox on an archived sandbox or one in error: invalid_state.',
  'WIRE-STATE-04': 'StopSandbox and ResizeSandbox on an archived sandbox: invalid_state.',
  'WIRE-STATE-05': 'Labels, configure and delete work in any state.',
  'WIRE-STATE-06': 'StartSandbox on a sandbox in error tries again.',
  'WIRE-STATE-07':
    'Exec and file tools on a sandbox that is not started: invalid_state, with the hint to start it.',
  'WIRE-STATE-08':
    'An init process that died leaves the sandbox stopped with a reason, an ephemeral one deleted.',
  'WIRE-STATE-09': 'A host that rebooted leaves sandboxes stopped with a reason, ephemeral ones deleted.',
  'WIRE-STATE-10': 'error means that a start, stop, archive or restore failed.',

  'WIRE-RESIZE-01': 'ResizeSandbox with nothing to change: invalid_argument.',
  'WIRE-RESIZE-02': 'A resize is all or nothing: a mixed request with one illegal part changes nothing.',

  'WIRE-ROOT-01': 'Relative paths and cwd start from /workspace.',
  'WIRE-ROOT-02': 'Absolute paths are the sandbox’s own file system; nothing of the host can be reached.',
  'WIRE-ROOT-03': 'Commands run as root inside, which is an unprivileged user on the host.',
  'WIRE-ROOT-04': 'apt-get and pip install packages.',
  'WIRE-ROOT-05':
    'The base image has the stated commands, Python 3.13 with the stated packages, and Node 24 with npm.',

  'WIRE-SNAP-01':
    'A snapshot has id snap_…, name, state, image, entrypoint, resources, region_id, size_bytes and times.',
  'WIRE-SNAP-02': 'States are pending, pulling, active and error; state_reason says why in error.',
  'WIRE-SNAP-03': 'CreateSnapshot answers at once with pending.',
  'WIRE-SNAP-04': 'A name that exists: already_exists; one in error is replaced. Names are per owner.',
  'WIRE-SNAP-05': 'A sandbox from a snapshot that is not active: invalid_state.',
  'WIRE-SNAP-06': 'The entrypoint is started in the background at every start.',
  'WIRE-SNAP-07': 'CreateSandbox with an image that is not there pulls it, with progress.',
  'WIRE-SNAP-08': 'ListSnapshots gives snapshots, total_count, page, page_size and total_pages.',
  'WIRE-IDENT-01':
    'ListRegions gives regions of id, name and location; WhoAmI gives user_id, name and email.',

  'WIRE-SSH-01':
    'CreateSshAccess gives host, port, username, access_token, host_key, expires_at and command.',
  'WIRE-SSH-02':
    'The token works as the password of the username, and alone as the user name without a prompt.',
  'WIRE-SSH-03': 'Shell, exec, sftp, scp, rsync and port forwarding work.',
  'WIRE-SSH-04': 'expires_in_minutes below 0 is refused; earlier tokens stay valid until they expire.',
  'WIRE-PORTS-01': 'A port is port, state listening and name, the name of the listening process.',
  'WIRE-PREVIEW-01': 'GetPortPreviewUrl gives url, port, signed, token, header and expires_at.',
  'WIRE-PREVIEW-02': 'port is 1 to 65535; expires_in_seconds is at least 1, and ignored unless signed.',
  'WIRE-PREVIEW-03': 'A standard URL without the right header answers 401.',
  'WIRE-PREVIEW-04': 'A signed URL opens in a browser, WebSockets included; nothing outlives its expiry.',
  'WIRE-PREVIEW-05': 'While nothing listens on the port the proxy answers 502 with a plain explanation.',
};
