import type { AgentWarning } from '../../domain/agents/check/warning.ts';

/** Proxies take few kilobytes of headers. */
const MAX_CHARS = 1_500;
const MAX_SUBJECT_CHARS = 60;

/**
 * The header `Agent-Warnings`: a list of structured fields (RFC 9651), one for each warning, whose parameter `subject` is a display string.
 * What does not fit is counted in a last item `more`. Undefined without warnings.
 */
export function agentWarningsHeader(warnings: readonly AgentWarning[]): string | undefined {
  if (warnings.length === 0) return undefined;
  let header = '';
  for (const [place, { code, subject }] of warnings.entries()) {
    const item = subject === null ? code : `${code};subject=${displayString(subject)}`;
    if (header.length + item.length > MAX_CHARS) return `${header}, more;count=${warnings.length - place}`;
    header += place === 0 ? item : `, ${item}`;
  }
  return header;
}

/** RFC 9651, section 4.1.11: UTF-8 in which all but printable ASCII, `%` and `"` are escaped in lower case. */
function displayString(text: string): string {
  const bytes = Buffer.from([...text].slice(0, MAX_SUBJECT_CHARS).join('').toWellFormed());
  const escaped = [...bytes].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x25 || byte === 0x22
      ? `%${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  return `%"${escaped.join('')}"`;
}
