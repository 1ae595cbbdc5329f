import { Command, InvalidArgumentError, Option } from 'commander';
import { API_VERSION } from '../../generated/calls.ts';
import { commandGroups } from '../../generated/commands.ts';
import { type CommandRow, commandRows, groupSummaries } from './commands.ts';
import type { Context, Flags } from './context.ts';
import { seconds } from './seconds.ts';

const EXIT_CODES = `
Exit codes:
  0  done
  1  a generic error, an error of the service (5xx), or no connection
  2  wrong usage, or a request that the service refuses (4xx without a code below)
  3  not found (404)
  4  no credential, or one that is refused (401, 403)
  5  a conflict (409), also with what is configured here
  6  changes are pending (plan --exit-code)
  130  Ctrl-C`;

const EXAMPLES = `
Examples:
  guildhall auth login                             check a key and save it
  guildhall agents list --status active            a table here, JSON in a pipe
  guildhall agents list --all | jq -r .name        every page, one item a line
  guildhall api POST /agents --body @agent.json    any request`;

/** Options of the root, which every command takes before and after its words. */
const globalOptions = [
  new Option('--json', 'print JSON, errors too'),
  new Option('--profile <name>', 'the saved login to use (GUILDHALL_PROFILE)'),
  new Option('--api-key <key>', 'the key; other users of the machine can see it'),
  new Option('--api-key-file <file>', 'a file with the key'),
  new Option('--base-url <url>', 'where the service is (GUILDHALL_BASE_URL)'),
  new Option('--timeout <seconds>', 'how long a request may take').argParser((text) => {
    const value = seconds(text);
    if (value === undefined) throw new InvalidArgumentError('It takes seconds, from above 0 to 86400.');
    return value;
  }),
  new Option('-y, --yes', 'answer yes to every question'),
];

/** What commander wrote, as help and versions are. */
export interface Answer {
  help: string;
}

/**
 * The program for one command line: every group by name and summary, the commands of the group that is called, and of the one that is called its
 * arguments and options. So a call loads what it needs.
 */
export async function buildProgram(
  argv: string[],
  answer: Answer,
  contextOf: (flags: Flags) => Context,
): Promise<{ program: Command; line: string[] }> {
  const program = new Command('guildhall')
    .description('Build AI agents and resell them, from a command line.')
    .version(API_VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        answer.help += text;
      },
      writeErr: (text) => {
        answer.help += text;
      },
      outputError: () => {},
    });
  for (const option of globalOptions) program.addOption(option);
  let made: Context | undefined;
  const context = () => {
    made ??= contextOf(flagsOf(program));
    return made;
  };
  const tree = commandTree();
  program.addHelpText('after', `${EXAMPLES}\n${EXIT_CODES}`);
  const line = lineOf(argv);
  await addCommands(program, tree, wordsOf(line), context);
  return { program, line };
}

/** The program for words that nobody runs, as completion reads them. */
async function programFor(argv: string[]): Promise<Command> {
  const { program } = await buildProgram(argv, { help: '' }, () => {
    throw new Error('These words are read, and no command runs.');
  });
  return program;
}

/** A word of the command line: a group, a command, or both. */
interface Node {
  summary: string;
  heading: string | undefined;
  row: CommandRow | undefined;
  children: Map<string, Node>;
}

/** All words. A hand-written command replaces a generated one of the same words. */
function commandTree(): Node {
  const root: Node = { summary: '', heading: undefined, row: undefined, children: new Map() };
  for (const row of commandRows) if (row.heading) insert(root, row);
  for (const [group, { heading, summary, commands }] of Object.entries(commandGroups))
    for (const { words, operationId, summary: what } of commands) {
      insert(root, {
        words: [group, ...words],
        summary: what,
        heading,
        load: async () => {
          const { operationCommand } = await import('./operation/register.ts');
          return { register: operationCommand(operationId) };
        },
      });
      const node = root.children.get(group);
      if (node && words.length > 0) node.summary = summary;
    }
  for (const row of commandRows) insert(root, row);
  return root;
}

function insert(root: Node, row: CommandRow): void {
  let node = root;
  for (const [index, word] of row.words.entries()) {
    const path = row.words.slice(0, index + 1).join(' ');
    let next = node.children.get(word);
    if (!next) {
      next = { summary: groupSummaries[path] ?? '', heading: row.heading, row: undefined, children: new Map() };
      node.children.set(word, next);
    }
    node = next;
  }
  node.row = row;
  node.summary = row.summary;
}

async function addCommands(parent: Command, node: Node, words: string[], context: () => Context): Promise<void> {
  for (const [word, child] of node.children) {
    const command = parent.command(word).helpCommand(false).summary(child.summary).description(`${child.summary}.`);
    if (child.heading && !parent.parent) command.helpGroup(`${child.heading}:`);
    if (word !== words[0]) continue;
    await addCommands(command, child, words.slice(1), context);
    if (child.row) {
      const { register } = await child.row.load();
      register(command, context, programFor);
    }
    command.addHelpText(
      'after',
      '\nAll commands also take: --json --profile --api-key-file --base-url --timeout --yes\nExit codes: 0 done, 1 error, 2 usage, 3 not found, 4 credential, 5 conflict',
    );
  }
}

/** The command line, with what people also try for help: `guildhall` alone, and `guildhall help agents list`. */
function lineOf(argv: readonly string[]): string[] {
  const [first, ...rest] = wordsOf(argv);
  if (first === undefined)
    return [...argv, ...(argv.some((each) => /^(-h|--help|-V|--version)$/.test(each)) ? [] : ['--help'])];
  if (first === 'help') return [...rest, '--help'];
  return rest[0] === 'help' ? [first, ...rest.slice(1), '--help'] : [...argv];
}

/** The words of a command line that may name a command: all that are no flag, nor the value of a global one. */
function wordsOf(argv: readonly string[]): string[] {
  const withValue = new Set(globalOptions.filter((option) => option.required).map((option) => option.long));
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    if (withValue.has(word)) at += 1;
    else if (!word.startsWith('-')) words.push(word);
  }
  return words;
}

function flagsOf(program: Command): Flags {
  const { json = false, yes = false, ...others } = program.opts<Partial<Flags>>();
  return { json, yes, ...others };
}
