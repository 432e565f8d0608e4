/** The files of a sandbox: a tree, uploads, a search, and the open file. */
import { Button, FileButton, Menu, SegmentedControl } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { NeedsStart } from '../needs-start.tsx';
import { useSandbox } from '../sandbox.ts';
import { FileTree } from './file-tree.tsx';
import { FileView } from './file-view.tsx';
import classes from './files.module.css';
import { parentOf, ROOT } from './reading/paths.ts';
import { SearchPanel } from './search-panel.tsx';
import { UploadList } from './upload-list.tsx';
import { type FileActions, useFileActions } from './use-file-actions.tsx';

const route = getRouteApi('/sandboxes/$id/files');

export function FilesTab() {
  return (
    <NeedsStart what="Files">
      <Files />
    </NeedsStart>
  );
}

function Files() {
  const { id } = useSandbox();
  const { path = ROOT, file, line } = route.useSearch();
  const navigate = route.useNavigate();
  const [side, setSide] = useState('tree');
  const open = (opened: string | undefined, at?: number) =>
    void navigate({
      search: {
        ...(path === ROOT ? {} : { path }),
        ...(opened === undefined ? {} : { file: opened }),
        ...(at === undefined ? {} : { line: at }),
      },
    });
  const actions = useFileActions(id, (from, to) => {
    if (from === '' && to !== null) return open(to);
    if (file === undefined || (file !== from && !file.startsWith(`${from}/`))) return;
    open(to === null ? undefined : to + file.slice(from.length));
  });
  const begin = (folder: string) =>
    void navigate({ search: { ...(folder === ROOT ? {} : { path: folder }), ...(file ? { file } : {}) } });
  return (
    <div className={classes['files']}>
      <section className={classes['side']} aria-label="Files">
        <Toolbar path={path} side={side} setSide={setSide} actions={actions} />
        {side === 'tree' ? (
          <>
            <Start path={path} begin={begin} />
            <FileTree sandbox={id} root={path} file={file} open={open} begin={begin} actions={actions} />
          </>
        ) : (
          <SearchPanel sandbox={id} path={path} open={open} />
        )}
        <UploadList sandbox={id} />
      </section>
      <section className={classes['view']} aria-label="Open file">
        {file === undefined ? (
          <Empty icon="file" title="No file is open">
            Choose one in the tree. Files can be dropped there too.
          </Empty>
        ) : (
          <FileView key={file} sandbox={id} path={file} line={line} actions={actions} />
        )}
      </section>
      {actions.dialogs}
    </div>
  );
}

interface ToolbarProps {
  path: string;
  side: string;
  setSide(side: string): void;
  actions: FileActions;
}

function Toolbar({ path, side, setSide, actions }: ToolbarProps) {
  return (
    <div className="row">
      <SegmentedControl
        aria-label="Shown"
        value={side}
        onChange={setSide}
        data={[
          { value: 'tree', label: 'Tree' },
          { value: 'search', label: 'Search' },
        ]}
      />
      <span className="grow" />
      <FileButton multiple onChange={(files) => actions.upload(path, files)}>
        {(props) => (
          <Button {...props} variant="default" leftSection={<Icon name="upload" size={14} />}>
            Upload
          </Button>
        )}
      </FileButton>
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="plus" size={14} />}>
            New
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item data-autofocus onClick={() => actions.newFile(path)}>
            File
          </Menu.Item>
          <Menu.Item onClick={() => actions.newFolder(path)}>Folder</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

/** The folder that the tree begins at, and the way up. */
function Start({ path, begin }: { path: string; begin(folder: string): void }) {
  return (
    <div className="row">
      <Button
        variant="subtle"
        color="gray"
        c="dimmed"
        disabled={path === '/'}
        onClick={() => begin(parentOf(path))}
        leftSection={<Icon name="up" size={14} />}
      >
        Up
      </Button>
      <code className="ellipsis grow" title={path}>
        {path}
      </code>
      {path !== ROOT && (
        <Button variant="subtle" onClick={() => begin(ROOT)}>
          Workspace
        </Button>
      )}
    </div>
  );
}
