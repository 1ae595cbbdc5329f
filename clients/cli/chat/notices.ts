import type { components } from '../../../generated/api.ts';
import type { Io } from '../io.ts';
import { cutText } from '../terminal/cells.ts';
import type { Colours } from '../terminal/colours.ts';
import { plainLine } from '../terminal/plain.ts';
import type { PendingApproval } from './session.ts';

type ToolCall = components['schemas']['StreamToolCall'];

const MAX_INPUT_CELLS = 200;

/** A call that was made, in one line. */
export function toolCallLine({ name, ok, durationMs }: ToolCall, colours: Colours): string {
  const took = durationMs < 1_000 ? `${durationMs} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
  return `${ok ? colours.good('✓') : colours.bad('✗')} ${plainLine(name)} ${colours.dim(ok ? took : `failed after ${took}`)}`;
}

/** A call that waits, in one line: which tool, and what it would be called with. */
export function waitingLine({ toolName, input }: PendingApproval, number: number, colours: Colours): string {
  const call = `${plainLine(toolName)}(${cutText(plainLine(JSON.stringify(input)), MAX_INPUT_CELLS)})`;
  return `${colours.waiting('?')} ${number}. ${call} ${colours.dim('waits for a decision')}`;
}

/** A line to people that has colours. Whatever comes from elsewhere must be plain already: `say` would show the colours as characters. */
export function sayStyled({ stderr }: Pick<Io, 'stderr'>, text: string): void {
  stderr.write(`${text}\n`);
}
