import type { Visitor } from './types.ts';

/**
 * Appends to each operation's description the error codes of its own (`x-error-codes`), so that readers of the API
 * reference see them: viewers do not show extensions. Runs when the document is bundled, never on the sources.
 */
export function listErrorCodes(): Visitor {
  return {
    Operation: {
      leave(operation) {
        const own = Object.entries(operation['x-error-codes'] ?? {});
        if (own.length === 0) return;
        const list = own.map(([status, codes]) => `${status} ${codes.map((code) => `\`${code}\``).join(', ')}`);
        operation.description = `${(operation.description ?? '').trimEnd()}\n\nError codes: ${list.join('; ')}.`;
      },
    },
  };
}
