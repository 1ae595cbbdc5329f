/** Control characters, and those that break a line or reorder text: they stay escaped, so that a name cannot look like another line. */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/**
 * The header `Agent-Warnings` of `publishAgent` as people read it on one line, such as `variable_not_defined (city), 3 more`: RFC 9651 escapes
 * what is not ASCII. Undefined when there is none.
 */
export function agentWarningsText({ headers }: Pick<Response, 'headers'>): string | undefined {
  const shown = headers.get('agent-warnings')?.replace(/;subject=%"([^"]*)"/g, (all, text: string) => {
    try {
      return ` (${decodeURIComponent(text).replace(UNPRINTABLE, escaped)})`;
    } catch {
      return all;
    }
  });
  return shown?.replace(/\bmore;count=(\d+)$/, '$1 more');
}

const escaped = (each: string): string => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
