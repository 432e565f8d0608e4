/** Shows a Jupyter notebook: text, code, and of its outputs only text and pictures. */
import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { counted } from '../../../format/quantity.ts';
import { Empty } from '../../../parts/empty.tsx';
import { BlobImage } from '../../blob-image.tsx';
import { Output } from '../../output.tsx';
import Markdown from './markdown.tsx';
import classes from './notebook.module.css';
import { type Cell, readNotebook, tooLarge } from './notebook-cells.ts';
import type { CellOutput } from './notebook-outputs.ts';
import { type Excerpt, MOST_TEXT_CHARACTERS } from './notebook-text.ts';

interface NotebookProps {
  text: string;
  /** The text is the first part of a longer file. */
  cut: boolean;
  showText(): void;
}

export default function Notebook({ text, cut, showText }: NotebookProps) {
  const read = useMemo(() => (cut ? tooLarge : readNotebook(text)), [text, cut]);
  if ('fault' in read) {
    return (
      <Empty icon="file" title={read.fault}>
        <p>{read.advice}</p>
        <Button variant="default" onClick={showText}>
          Show the text
        </Button>
      </Empty>
    );
  }
  if (read.cells.length === 0) return <Empty icon="file" title="This notebook has no cells" />;
  return (
    <div className="stack">
      <ol className={classes['cells']}>
        {read.cells.map((cell, index) => (
          <li key={index} className={classes['cell']}>
            <ShownCell cell={cell} number={index + 1} />
          </li>
        ))}
      </ol>
      <More count={read.moreCells} what="cell" />
    </div>
  );
}

export function ShownCell({ cell, number }: { cell: Cell; number: number }) {
  switch (cell.type) {
    case 'unknown':
      return <Note>A cell of an unknown kind is not shown.</Note>;
    case 'markdown':
      return <Markdown text={cell.source.text} />;
    case 'raw':
      return <Source excerpt={cell.source} />;
    case 'code':
      return (
        <>
          <div className={classes['count']}>[{cell.count ?? ' '}]</div>
          <Source excerpt={cell.source} isCode />
          {cell.outputs.map((output, index) => (
            <ShownOutput key={index} output={output} place={`${index + 1} of cell ${number}`} />
          ))}
          <More count={cell.moreOutputs} what="output" />
        </>
      );
  }
}

function Source({ excerpt, isCode = false }: { excerpt: Excerpt; isCode?: boolean }) {
  return (
    <>
      <pre className={classes['source']} data-code={isCode || undefined}>
        {excerpt.text}
      </pre>
      <Cut excerpt={excerpt} />
    </>
  );
}

const labels = { stdout: 'Output', stderr: 'Standard error', result: 'Result', error: 'Error' };

function ShownOutput({ output, place }: { output: CellOutput; place: string }) {
  switch (output.type) {
    case 'note':
      return <Note>{output.note}</Note>;
    case 'image':
      return (
        <div className={classes['image']}>
          <BlobImage
            bytes={output.bytes}
            type={output.mediaType}
            alt={output.about === '' ? `Image ${place}` : output.about}
          />
        </div>
      );
    case 'markdown':
      return <Markdown text={output.content.text} />;
    default: {
      const { type, content } = output;
      const isFault = type === 'stderr' || type === 'error';
      return (
        <div>
          {isFault && <Note>{labels[type]}</Note>}
          <Output label={`${labels[type]} ${place}`} text={content.text} none="An empty output." />
          <Cut excerpt={content} />
        </div>
      );
    }
  }
}

function Note({ children }: { children: string }) {
  return <div className="dimmed small break">{children}</div>;
}

function Cut({ excerpt }: { excerpt: Excerpt }) {
  const most = MOST_TEXT_CHARACTERS;
  return excerpt.cut ? <Note>{`The first ${counted(most, 'character')} are shown.`}</Note> : null;
}

function More({ count, what }: { count: number; what: string }) {
  if (count === 0) return null;
  return <Note>{`${counted(count, `more ${what}`)} ${count === 1 ? 'is' : 'are'} not shown.`}</Note>;
}
