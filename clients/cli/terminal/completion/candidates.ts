import type { Argument, Command, Option } from 'commander';

/** What can stand at the cursor. */
export interface Candidates {
  /** Each with one line of description, which may be empty. */
  values: [value: string, description: string][];
  /** The shell completes names of files as well. */
  files: boolean;
}

/** What completion has to know beyond the commands. */
export interface Sources {
  profiles(): Promise<string[]>;
}

const NAMES_FILE = /file|path|folder|zip/i;
/** Flags that collect their values say so; commander does not know it. */
const MAY_BE_REPEATED = /may be repeated/i;
const NOTHING: Candidates = { values: [], files: false };

/**
 * What can follow the words of a command line, without the program's own name; the last one is the word at the cursor, perhaps empty.
 * `program` has the arguments and options of the command that the words name.
 */
export async function candidatesFor(program: Command, words: readonly string[], sources: Sources): Promise<Candidates> {
  const joined = withoutEquals(words);
  const current = joined.at(-1) ?? '';
  const { command, operands, awaiting, used, isRaw } = readWords(program, joined.slice(0, -1));
  if (awaiting) return await valuesOf(awaiting, current, '', sources);
  if (isRaw) return argumentValues(command, operands, current);
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) {
    const option = optionsOf(program, command).find(({ long }) => long === flag);
    return option ? await valuesOf(option, value ?? '', `${flag}=`, sources) : NOTHING;
  }
  if (current.startsWith('-')) return flagsOf(program, command, used, current);
  if (operands === 0 && visible(command).length > 0) {
    const commands = visible(command).map((each): [string, string] => [each.name(), each.summary()]);
    return { values: startingWith(commands, current), files: false };
  }
  return argumentValues(command, operands, current);
}

interface Reading {
  command: Command;
  /** Words that are no command, flag or value of a flag. */
  operands: number;
  /** The flag whose value comes next. */
  awaiting: Option | undefined;
  used: Set<Option>;
  /** After `--` nothing is a flag. */
  isRaw: boolean;
}

function readWords(program: Command, words: readonly string[]): Reading {
  const reading: Reading = { command: program, operands: 0, awaiting: undefined, used: new Set(), isRaw: false };
  for (const word of words) {
    if (reading.awaiting) {
      reading.awaiting = undefined;
      continue;
    }
    if (word === '--') reading.isRaw = true;
    else if (!reading.isRaw && word.startsWith('-') && word !== '-') {
      const option = optionsOf(program, reading.command).find(({ long, short }) => word === long || word === short);
      if (option) reading.used.add(option);
      if (option?.required) reading.awaiting = option;
    } else {
      const next = reading.operands === 0 ? reading.command.commands.find((each) => each.name() === word) : undefined;
      if (next) reading.command = next;
      else reading.operands += 1;
    }
  }
  return reading;
}

/** Bash cuts words at `=`: `--status`, `=`, `act` are one flag with its value. */
function withoutEquals(words: readonly string[]): string[] {
  const last = words.at(-1);
  if (last === '=') return [...words.slice(0, -1), ''];
  return words.filter((word, at) => word !== '=' || !words[at - 1]?.startsWith('--'));
}

function optionsOf(program: Command, command: Command): Option[] {
  const own = command === program ? [] : command.options;
  return [...own, ...program.options].filter(({ hidden }) => !hidden);
}

async function valuesOf(option: Option, current: string, prefix: string, sources: Sources): Promise<Candidates> {
  const names = option.long === '--profile' ? await sources.profiles() : (option.argChoices ?? []);
  const values = startingWith(
    names.map((name): [string, string] => [name, '']),
    current,
  );
  const isFile = names.length === 0 && (NAMES_FILE.test(option.flags) || current.startsWith('@'));
  return { values: values.map(([value, description]) => [prefix + value, description]), files: isFile };
}

function flagsOf(program: Command, command: Command, used: ReadonlySet<Option>, current: string): Candidates {
  const flags = optionsOf(program, command)
    .filter((option) => !used.has(option) || MAY_BE_REPEATED.test(option.description))
    .map((option): [string, string] => [option.long ?? option.short ?? '', option.description]);
  return { values: startingWith([...flags, ['--help', 'print help']], current), files: false };
}

function argumentValues(command: Command, operands: number, current: string): Candidates {
  const last = command.registeredArguments.at(-1);
  const argument: Argument | undefined = command.registeredArguments[operands] ?? (last?.variadic ? last : undefined);
  if (!argument) return NOTHING;
  const choices = (argument.argChoices ?? []).map((choice): [string, string] => [choice, '']);
  return { values: startingWith(choices, current), files: choices.length === 0 && NAMES_FILE.test(argument.name()) };
}

function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function startingWith(values: [string, string][], current: string): [string, string][] {
  return values.filter(([value]) => value.startsWith(current));
}
