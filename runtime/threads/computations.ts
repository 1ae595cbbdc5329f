import type { ErrorDetail } from '../../core/errors.ts';
import type { FrontMatterRead } from '../skills/frontMatter.ts';
import type { CheckedInputsText } from '../tools/configuration/inputSchema.ts';
import type { CallOutcome } from '../tools/secrets/redact.ts';
import type { JsonSchema } from '../tools/tool.ts';

/**
 * What threads compute, because whoever sends the arguments can make it slow. Each depends on its arguments only, changes nothing, and may be
 * ended at any point and begun again. Arguments and results are copied from thread to thread.
 */
export interface Computations {
  findSchemaFaults(schema: JsonSchema, path: string): ErrorDetail[];
  checkInputsText(schema: string, inputs: string): CheckedInputsText;
  hideInOutcome(outcome: CallOutcome, secrets: readonly string[]): CallOutcome;
  tryFrontMatter(head: string): FrontMatterRead;
  splitReply(text: string): string[];
  speakable(reply: string): string;
}

/** The name of a computation. */
export type ComputationName = keyof Computations;

/**
 * Loads the code of a computation, and has it do once what it does at its first call only, so that this does not count against the
 * time of a call.
 */
export const LOADERS: { readonly [Name in ComputationName]: () => Promise<Computations[Name]> } = {
  async findSchemaFaults() {
    const { inputSchemaFaults } = await import('../tools/configuration/inputSchema.ts');
    inputSchemaFaults({ type: 'object' }, '');
    return inputSchemaFaults;
  },
  async checkInputsText() {
    const { checkInputsText } = await import('../tools/configuration/inputSchema.ts');
    checkInputsText('{"type":"object"}', '{}');
    return checkInputsText;
  },
  async hideInOutcome() {
    return (await import('../tools/secrets/redact.ts')).hideInOutcome;
  },
  async tryFrontMatter() {
    const { tryFrontMatter } = await import('../skills/frontMatter.ts');
    tryFrontMatter('---\nname: a\ndescription: b\n---\n');
    return tryFrontMatter;
  },
  async splitReply() {
    const { splitReply } = await import('../replies/split.ts');
    splitReply('A.\n\nB.');
    return splitReply;
  },
  async speakable() {
    const { speakable } = await import('../audio/speakable.ts');
    speakable('A. B.');
    return speakable;
  },
};
