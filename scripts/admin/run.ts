import { parseArgs } from 'node:util';
import { agentCommands } from './agent.ts';
import { approvalCommands } from './approval.ts';
import { automationCommands } from './automation.ts';
import { budgetCommands } from './budget.ts';
import { channelCommands } from './channel.ts';
import { clientCommands } from './client.ts';
import { type Command, CommandError, UsageError } from './command.ts';
import { connectionCommands } from './connection.ts';
import { conversationCommands } from './conversation.ts';
import { hubCommands } from './hub.ts';
import { keyCommands } from './key.ts';
import { knowledgeCommands } from './knowledge.ts';
import { knowledgeSourceCommands } from './knowledgeSources.ts';
import { ledgerCommands } from './ledger.ts';
import { mailCommands } from './mail.ts';
import { memoryCommands } from './memory.ts';
import { modelCommands } from './model.ts';
import { openDatabase } from './open.ts';
import { turnCommands } from './turn.ts';
import { usageCommands } from './usage.ts';
import { workspaceCommands } from './workspace.ts';

const nouns: Record<string, Record<string, Command>> = {
  workspace: workspaceCommands,
  key: keyCommands,
  agent: agentCommands,
  model: modelCommands,
  connection: connectionCommands,
  automation: automationCommands,
  channel: channelCommands,
  knowledge: { ...knowledgeSourceCommands, ...knowledgeCommands },
  memory: memoryCommands,
  approval: approvalCommands,
  conversation: conversationCommands,
  turn: turnCommands,
  usage: usageCommands,
  hub: hubCommands,
  client: clientCommands,
  mail: mailCommands,
  ledger: ledgerCommands,
  budget: budgetCommands,
};

const HELP = new Set(['help', '--help', '-h']);

/** The output of a command: lines for stdout and for stderr. */
export type Terminal = { out(line: string): void; err(line: string): void };

/**
 * Runs one command line against the database that `env` names.
 * @returns the exit code: 0 for success, 1 when the command fails, 2 when the command line is wrong
 */
export async function runAdmin(args: string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> {
  try {
    await answer(args, env, terminal);
    return 0;
  } catch (error) {
    const message = Error.isError(error) ? error.message : String(error);
    if (args.includes('--json')) terminal.out(JSON.stringify({ error: { message } }));
    else terminal.err(`error: ${message}`);
    if (error instanceof UsageError) {
      terminal.err(usage(error.noun));
      return 2;
    }
    if (!(error instanceof CommandError) && Error.isError(error) && error.stack) terminal.err(error.stack);
    return 1;
  }
}

async function answer(args: string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<void> {
  const [noun = 'help', first = '', ...others] = args;
  if (HELP.has(noun)) return terminal.out(usage());
  const verbs = Object.hasOwn(nouns, noun) ? nouns[noun] : undefined;
  if (!verbs) throw new UsageError(`Unknown noun "${noun}"`);
  if (HELP.has(first)) return terminal.out(usage(noun));
  // Some verbs have two words, such as `hub domain add`.
  const two = `${first} ${others[0] ?? ''}`;
  const [verb, rest] = Object.hasOwn(verbs, two) ? [two, others.slice(1)] : [first, others];
  const command = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!command) throw new UsageError(verb ? `Unknown verb "${verb}" for ${noun}` : `${noun} needs a verb`, noun);
  const { run, asJson } = prepare(command, rest, noun); // usage errors are thrown before the database is opened
  const opened = await openDatabase(env);
  try {
    const output = await run(opened.database, env);
    if ('lines' in output) for await (const line of output.lines) terminal.out(line);
    else terminal.out(asJson ? JSON.stringify(output.json) : output.text);
  } finally {
    await opened.close();
  }
}

/** Parses the arguments and options of a command. Throws UsageError with the noun, so that the usage text has its commands only. */
function prepare(command: Command, args: string[], noun: string) {
  try {
    const options = { ...command.options, json: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    if (positionals.length !== command.words) {
      throw new UsageError(`Expected ${command.words} argument(s), got ${positionals.length}`);
    }
    return { run: command.prepare(positionals, values), asJson: values.json === true };
  } catch (error) {
    throw new UsageError(Error.isError(error) ? error.message : String(error), noun);
  }
}

function usage(noun?: string): string {
  const lines = Object.entries(nouns)
    .filter(([name]) => noun === undefined || name === noun)
    .flatMap(([name, verbs]) =>
      Object.entries(verbs).map(([verb, command]) => `  ${name} ${verb} ${command.usage}`.trimEnd()),
    );
  return ['Usage: npm run admin -- <noun> <verb> … [--json]', ...lines].join('\n');
}
