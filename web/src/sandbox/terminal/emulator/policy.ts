/**
 * Keeps xterm within the page's policy, which allows no <style> and no style attribute made by a script. xterm gets a
 * document whose style elements are constructed sheets, and whose spans set their styles by CSSOM.
 */

/** Sheets of one emulator. */
export class Sheets {
  readonly #sheets = new Set<CSSStyleSheet>();

  /** Returns an element without effect of its own: its text is the sheet's. */
  element(): HTMLElement {
    const sheet = new CSSStyleSheet();
    this.#sheets.add(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const element = document.createElement('template');
    Object.defineProperty(element, 'textContent', {
      set: (text: string) => sheet.replaceSync(text),
    });
    return element;
  }

  remove(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !this.#sheets.has(sheet));
    this.#sheets.clear();
  }
}

/** For xterm's option `documentOverride`. */
export function documentUnderPolicy(sheets: Sheets): Document {
  const create = (name: string) => {
    if (name === 'style') return sheets.element();
    const element = document.createElement(name);
    if (name === 'span') styleByCssom(element);
    return element;
  };
  return new Proxy(document, {
    get(target, key) {
      if (key === 'createElement') return create;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** xterm's viewport asks the window's own document for its one <style>, while it opens. */
export function withSheets(sheets: Sheets, open: () => void): void {
  const create = document.createElement.bind(document);
  const own = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? sheets.element() : create(name, options);
  Object.defineProperty(document, 'createElement', { configurable: true, value: own });
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
}

function styleByCssom(element: HTMLElement): void {
  const set = element.setAttribute.bind(element);
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else set(name, value);
  };
}
