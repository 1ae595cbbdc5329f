/** Text of a server as it can be stored: without NUL and broken surrogates, cut to `max` characters. */
export function storableText(text: string, max: number): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).toWellFormed()}…`;
}

/**
 * A value of a server as it can be stored: PostgreSQL takes neither NUL nor a lone surrogate in jsonb, and nests no deeper than
 * its stack. Undefined when it nests deeper than `maxDepth`.
 */
export function storableJson(value: unknown, maxDepth: number): unknown {
  if (isDeeper(value, maxDepth)) return undefined;
  const text = JSON.stringify(value).replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, (code) =>
    code === '\\\\' ? code : '\\ufffd',
  );
  return JSON.parse(text);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}
