import type { ToolOutput } from '../agent/tool.ts';

/** The output of a call that went well. */
export const textOutput = (text: string): ToolOutput => ({ text, isError: false });

/** The output of a call that failed: `text` says what went wrong, and what the model can do about it. */
export const errorOutput = (text: string): ToolOutput => ({ text, isError: true });

/** What a model reads when a tool sent nothing back: some models repeat a call whose result is empty. */
export const nonEmpty = (text: string): string => (text === '' ? 'Done. The answer is empty.' : text);
