/**
 * Replaces selected text by what is typed over it. Left to itself, Chromium gives the new text the look of the old by
 * an inline style, which the page's policy refuses and reports.
 */
import { EditorView } from '@codemirror/view';

export const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    const { inputType, data } = event;
    if (inputType !== 'insertText' || !data || view.composing || state.readOnly) return false;
    if (state.selection.main.empty) return false;
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});
