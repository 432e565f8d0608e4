/**
 * Spread of sandboxes' folders over the disk. ext4 keeps the files of a folder's folders together, and looks for a free inode from
 * the start of their group. Of those that were deleted it leaves each alone for one to five minutes, and passes it by again for
 * each new file: after some hundred deletions that took a quarter of a creation. The folder's attribute `T` gives each folder in it
 * a group of its own (chattr(1): "the subdirectories are not related").
 */
import { limits } from '../../../model/limits.ts';
import { HelperFailure, type Helpers } from '../host/helper.ts';

/** Has new folders in this one lie apart. Does nothing where the file system has no such attribute. */
export async function spread(folder: string, helpers: Pick<Helpers, 'run'>): Promise<void> {
  try {
    await helpers.run('chattr', ['+T', folder], { timeoutMs: limits.diskHelperTimeoutMs });
  } catch (error) {
    if (!(error instanceof HelperFailure)) throw error;
  }
}
