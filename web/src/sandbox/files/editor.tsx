/**
 * CodeMirror, in a shadow root: there its styles are constructed sheets, where in the page they would be a <style> that
 * the page's policy forbids.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { languageOf } from './languages.ts';
import { typedOver } from './typed-over.ts';

export interface EditorHandle {
  text(): string;
}

interface EditorProps {
  ref?: Ref<EditorHandle>;
  name: string;
  text: string;
  line?: number | undefined;
  readOnly?: boolean;
  onDirty?(dirty: boolean): void;
  onSave?(): void;
  /** Ctrl or Cmd with Enter. */
  onRun?(): void;
}

export default function Editor({
  ref,
  name,
  text,
  line,
  readOnly = false,
  onDirty,
  onSave,
  onRun,
}: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const handlers = useRef({ onDirty, onSave, onRun });
  handlers.current = { onDirty, onSave, onRun };
  useImperativeHandle(ref, () => ({ text: () => view.current?.state.doc.toString() ?? '' }), []);
  useEffect(() => {
    if (!host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const language = new Compartment();
    const made = new EditorView({
      root,
      parent: root,
      state: stateOf({ name, text, readOnly, language, handlers }),
    });
    view.current = made;
    void languageOf(name).then((found) => {
      if (found && view.current === made) made.dispatch({ effects: language.reconfigure(found) });
    });
    return () => {
      made.destroy();
      view.current = null;
    };
  }, [name, text, readOnly]);
  useEffect(() => {
    const made = view.current;
    if (!made || line === undefined || line > made.state.doc.lines) return;
    const { from } = made.state.doc.line(line);
    made.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
  }, [line]);
  return <div ref={host} style={{ height: '100%' }} />;
}

interface Making {
  name: string;
  text: string;
  readOnly: boolean;
  language: Compartment;
  handlers: { current: Pick<EditorProps, 'onDirty' | 'onSave' | 'onRun'> };
}

function stateOf({ name, text, readOnly, language, handlers }: Making): EditorState {
  const run = (action: 'onSave' | 'onRun') => () => {
    handlers.current[action]?.();
    return handlers.current[action] !== undefined;
  };
  return EditorState.create({
    doc: text,
    extensions: [
      keymap.of([
        { key: 'Mod-s', run: run('onSave'), preventDefault: true },
        { key: 'Mod-Enter', run: run('onRun') },
      ]),
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
      ...[
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
      ],
      highlightSelectionMatches(),
      typedOver,
      syntaxHighlighting(colours),
      look,
      language.of([]),
      EditorState.readOnly.of(readOnly),
      // Tab moves on to the next control, so that the keyboard can leave.
      EditorView.contentAttributes.of({ 'aria-label': `Text of ${name}`, tabindex: '0' }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) handlers.current.onDirty?.(state.doc.toString() !== text);
      }),
    ],
  });
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  {
    tag: [tags.propertyName, tags.attributeName, tags.typeName, tags.className, tags.tagName],
    color: 'var(--code-name)',
  },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--code-name)' },
  { tag: [tags.comment, tags.meta], color: 'var(--code-comment)' },
  { tag: [tags.heading, tags.strong], fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '&': {
    height: '100%',
    color: 'var(--mantine-color-text)',
    backgroundColor: 'transparent',
    fontSize: '13px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent-text)', outlineOffset: '-2px' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.55',
    overflow: 'auto',
  },
  '.cm-gutters': {
    color: 'var(--mantine-color-dimmed)',
    backgroundColor: 'transparent',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--mantine-color-accent-light-hover)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--mantine-color-accent-light)' },
  '.cm-panels': { color: 'var(--mantine-color-text)', backgroundColor: 'var(--surface)' },
  '.cm-panels input, .cm-panels button': { color: 'inherit', background: 'var(--surface-raised)' },
});
