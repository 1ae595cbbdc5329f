/**
 * The header `Agent-Warnings` of `publishAgent` as people read it, such as `variable_not_defined (city)`: RFC 9651 escapes what is not ASCII.
 * Undefined when there is none.
 */
export function agentWarningsText({ headers }: Pick<Response, 'headers'>): string | undefined {
  return headers.get('agent-warnings')?.replace(/;subject=%"([^"]*)"/g, (all, text: string) => {
    try {
      return ` (${decodeURIComponent(text)})`;
    } catch {
      return all;
    }
  });
}
