/** The tree of files. A folder asks for its content when it is opened, and when it changes; files can be dropped on each one. */
import { ActionIcon, Button, Menu } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type DragEvent, useState } from 'react';
import { formatBytes } from '../../format/quantity.ts';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import classes from './files.module.css';
import { joined } from './reading/paths.ts';
import { folderQuery } from './reading/queries.ts';
import type { FileActions } from './use-file-actions.tsx';
import { useWatchedTree } from './use-watched-tree.ts';

interface TreeProps {
  sandbox: string;
  root: string;
  file: string | undefined;
  open(path: string): void;
  /** Lets the tree begin at a folder. */
  begin(folder: string): void;
  actions: FileActions;
}

export function FileTree(props: TreeProps) {
  const drop = useDrop(props.root, props.actions);
  useWatchedTree(props.sandbox, props.root);
  return (
    <div className={classes['tree']} {...drop.handlers} data-drop={drop.isOver || undefined}>
      <Folder {...props} path={props.root} depth={0} />
    </div>
  );
}

function Folder({ path, depth, ...tree }: TreeProps & { path: string; depth: number }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } =
    useInfiniteQuery(folderQuery(tree.sandbox, path));
  if (isPending) return <Loading what={path} lines={3} />;
  if (error && !data) return <ProblemPanel title="Not listed" error={error} retry={() => void refetch()} />;
  const files = data.pages.flatMap((page) => page.files);
  if (files.length === 0) return <div className={`${classes['none']} dimmed`}>empty</div>;
  return (
    <ul className={classes['list']}>
      {files.map((entry) => (
        <Entry key={entry.name} entry={entry} path={joined(path, entry.name)} depth={depth} {...tree} />
      ))}
      {hasNextPage && (
        <li>
          <Button variant="subtle" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More of {data.pages[0]?.total_count}
          </Button>
        </li>
      )}
    </ul>
  );
}

interface EntryProps extends TreeProps {
  entry: { name: string; type: 'file' | 'dir'; size: number; link: boolean };
  path: string;
  depth: number;
}

function Entry({ entry, path, depth, ...tree }: EntryProps) {
  const [expanded, setExpanded] = useState(false);
  const isFolder = entry.type === 'dir';
  const drop = useDrop(path, tree.actions);
  return (
    <li {...(isFolder ? drop.handlers : {})} data-drop={(isFolder && drop.isOver) || undefined}>
      <div
        className={classes['entry']}
        data-open={path === tree.file || undefined}
        style={{ paddingInlineStart: `${depth * 0.9 + 0.25}rem` }}
      >
        <button
          type="button"
          className={classes['entryName']}
          {...(isFolder
            ? { 'aria-expanded': expanded }
            : { 'aria-current': path === tree.file ? 'true' : undefined })}
          onClick={() => (isFolder ? setExpanded(!expanded) : tree.open(path))}
          title={entry.name}
        >
          <span className={classes['arrow']}>
            {isFolder && <Icon name={expanded ? 'down' : 'chevron'} size={12} />}
          </span>
          <Icon name={isFolder ? 'folder' : 'file'} size={14} />
          <span className="ellipsis">
            {entry.name}
            {entry.link && <span className="dimmed"> (link)</span>}
          </span>
          {!isFolder && (
            <span className={`${classes['size']} dimmed numbers`}>{formatBytes(entry.size)}</span>
          )}
        </button>
        <EntryMenu path={path} isFolder={isFolder} name={entry.name} {...tree} />
      </div>
      {expanded && <Folder {...tree} path={path} depth={depth + 1} />}
    </li>
  );
}

function EntryMenu({
  path,
  name,
  isFolder,
  actions,
  begin,
}: TreeProps & { path: string; name: string; isFolder: boolean }) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size={24} variant="subtle" color="gray" c="dimmed" aria-label={`Actions on ${name}`}>
          <Icon name="more" size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isFolder ? (
          <>
            <Menu.Item data-autofocus onClick={() => begin(path)}>
              Start the tree here
            </Menu.Item>
            <Menu.Item onClick={() => actions.newFile(path)}>New file</Menu.Item>
            <Menu.Item onClick={() => actions.newFolder(path)}>New folder</Menu.Item>
          </>
        ) : (
          <Menu.Item data-autofocus onClick={() => actions.download(path)}>
            Download
          </Menu.Item>
        )}
        <Menu.Item onClick={() => actions.rename(path)}>Rename</Menu.Item>
        <Menu.Item c="var(--mantine-color-error)" onClick={() => actions.remove(path, isFolder)}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useDrop(folder: string, actions: FileActions) {
  const [isOver, setIsOver] = useState(false);
  const take = (event: DragEvent, over: boolean) => {
    if (!event.dataTransfer.types.includes('Files')) return false;
    event.preventDefault();
    event.stopPropagation();
    setIsOver(over);
    return true;
  };
  const handlers = {
    onDragOver: (event: DragEvent) => void take(event, true),
    onDragLeave: (event: DragEvent) => void take(event, false),
    onDrop(event: DragEvent) {
      if (take(event, false)) actions.upload(folder, filesOf(event.dataTransfer));
    },
  };
  return { isOver, handlers };
}

/** A dropped folder has no bytes of its own. */
function filesOf({ items, files }: DataTransfer): File[] {
  const isFolder = Array.from(items, (item) => item.webkitGetAsEntry?.()?.isDirectory ?? false);
  return Array.from(files).filter((_, index) => !isFolder[index]);
}
