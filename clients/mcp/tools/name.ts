/**
 * The name of the tool of an operation: its tag and its operationId in snake_case, as the product specification has them
 * (`agents__list_agents`).
 */
export function toolName(tag: string, operationId: string): string {
  return `${snake(tag)}__${snake(operationId)}`;
}

/** A word in capitals and its plural are one word: `External MCPs` is `external_mcps`. */
function snake(words: string): string {
  return words
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
}
