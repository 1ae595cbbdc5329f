import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { memo } from 'preact/compat';
import { translate } from './texts.ts';

/*
 * Markdown as elements. Nothing becomes HTML on the way: the parser's tokens become nodes, HTML in a text is shown as the text that it
 * is, and only addresses of known kinds become links. Pictures in texts are shown as links, since whoever tricks an agent could send
 * what it knows to any address by a picture.
 */

/** Longer texts are shown as they are: the parser need not be fast for every input. */
const MAX_PARSED = 60_000;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

function decoded(given: string): string {
  return given.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name: string) => {
    if (name) return ENTITIES[name] ?? all;
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : all;
  });
}

/** The address, if it is one that a link may have. */
export function safeAddress(given: string): string | undefined {
  let url: URL;
  try {
    url = new URL(decoded(given));
  } catch {
    return undefined;
  }
  return ['http:', 'https:', 'mailto:', 'tel:'].includes(url.protocol) ? url.href : undefined;
}

/** A link that opens elsewhere; its text alone when the address is none that a link may have. */
export function SafeLink({ href, children }: { href: string; children: ComponentChildren }) {
  const address = safeAddress(href);
  if (!address) return <>{children}</>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <span class="hidden"> ({translate('opensElsewhere')})</span>
    </a>
  );
}

const inline = (tokens: Token[] | undefined) => tokens?.map((token, index) => <Node key={index} token={token} />);

function Heading({ depth, children }: { depth: number; children: ComponentChildren }) {
  // The page's own heading is the first level. Texts skip levels as they like; what helps people to find their way does not.
  return <h2 class={`d${depth}`}>{children}</h2>;
}

function Table({ header, rows }: Tokens.Table) {
  const align = (cell: Tokens.TableCell) => (cell.align ? { textAlign: cell.align } : {});
  return (
    // biome-ignore lint/a11y: who uses a keyboard scrolls it; a landmark for each would be too many, and it is no group of fields.
    <div class="scroll" role="group" tabIndex={0} aria-label={translate('table')}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col" style={align(cell)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} style={align(cell)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Items({ ordered, start, items }: Tokens.List) {
  const children = items.map((item, index) => <li key={index}>{inline(item.tokens)}</li>);
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
}

function Node({ token }: { token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'paragraph':
      return <p dir="auto">{inline(token.tokens)}</p>;
    case 'heading':
      return <Heading depth={token.depth}>{inline(token.tokens)}</Heading>;
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'blockquote':
      return <blockquote>{inline(token.tokens)}</blockquote>;
    case 'list':
      return <Items {...(token as Tokens.List)} />;
    case 'table':
      return <Table {...(token as Tokens.Table)} />;
    case 'link':
      return <SafeLink href={token.href}>{inline(token.tokens)}</SafeLink>;
    case 'image':
      return <SafeLink href={token.href}>{translate('picture', { name: decoded(token.text) || token.href })}</SafeLink>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'checkbox':
      return (
        <input
          type="checkbox"
          checked={token.checked}
          disabled
          aria-label={token.checked ? translate('yes') : translate('no')}
        />
      );
    case 'code':
      return (
        // biome-ignore lint/a11y: who uses a keyboard scrolls it; a landmark for each would be too many, and it is no group of fields.
        <div class="scroll" role="group" tabIndex={0} aria-label={translate('code')} dir="ltr">
          <pre>
            <code>{token.text}</code>
          </pre>
        </div>
      );
    case 'html':
      return <>{token.raw}</>;
    default: {
      const { tokens, text: plain, raw } = token as Tokens.Generic;
      return <>{tokens ? inline(tokens) : decoded(String(plain ?? raw))}</>;
    }
  }
}

/** A text in Markdown. */
export const Markdown = memo(function Markdown({ source }: { source: string }) {
  if (source.length > MAX_PARSED) return <p class="plain">{source}</p>;
  let tokens: Token[];
  try {
    tokens = lexer(source, { gfm: true, breaks: true });
  } catch {
    return <p class="plain">{source}</p>;
  }
  return <div class="markdown">{inline(tokens)}</div>;
});
