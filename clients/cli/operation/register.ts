import { type Command, Option } from 'commander';
import { type CommandField, commandTable, type OperationCommand } from '../../../generated/commandTable.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { runOperation } from './run.ts';

/** The command of an operation: the variables of its path are arguments; its query, its body and the parts of its upload are flags. */
export function operationCommand(operationId: OperationId): Register {
  return (command, context) => {
    const row: OperationCommand = commandTable[operationId];
    for (const { label, about } of row.variables) command.argument(`<${label}>`, about);
    for (const field of row.query) addField(command, field);
    for (const field of row.fields) addField(command, field);
    for (const field of row.metadata ?? [])
      if (row.fields.every(({ flag }) => flag !== field.flag)) addField(command, field);
    addOthers(command, row);
    const lines = [`guildhall ${[...row.words, row.example].join(' ')}`.trimEnd()];
    if (row.response === 'pages') lines.push(`guildhall ${row.words.join(' ')} --all`);
    command.addHelpText('after', examples(lines)).action(async (...args: unknown[]) => {
      // commander passes the arguments, then the flags, then the command.
      const values = args.slice(0, row.variables.length) as string[];
      await runOperation(context(), operationId, values, args[row.variables.length] as Record<string, unknown>);
    });
  };
}

function addField(command: Command, { flag, type, list, choices, required, nullable, about }: CommandField): void {
  const note = [
    about,
    type === 'boolean' && `(or --no-${flag})`,
    required && '(needed)',
    nullable && `(or --null ${flag})`,
  ]
    .filter(Boolean)
    .join(' ');
  if (type === 'boolean' && !list) {
    command.addOption(new Option(`--${flag}`, note));
    command.addOption(new Option(`--no-${flag}`).hideHelp());
    return;
  }
  const option = new Option(`--${flag} <${placeholder(type)}>`, list ? `${note} May be repeated.` : note);
  if (list) option.argParser((value: string, previous: string[] | undefined) => [...(previous ?? []), checked(value)]);
  else if (choices) option.choices(choices);
  // Help and completion show the values of a list, too.
  if (list && choices) option.argChoices = choices;
  command.addOption(option);

  function checked(value: string): string {
    if (choices && !choices.includes(value) && !value.trimStart().startsWith('['))
      command.error(`error: option '--${flag}' takes one of ${choices.join(', ')}, and not '${value}'`);
    return value;
  }
}

function placeholder(type: CommandField['type']): string {
  return type === 'string' ? 'text' : type === 'json' || type === 'any' ? 'json' : 'number';
}

function addOthers(command: Command, row: OperationCommand): void {
  if (row.file) command.option('--file <path>', `${row.file}${row.body === 'multipart' ? ' (needed)' : ''}`);
  if (row.fields.length > 0 || row.body.startsWith('json'))
    command.option('--body <json>', 'the body as JSON, @file, or - for the input; flags come on top of it');
  if ([...row.fields, ...(row.metadata ?? [])].some(({ nullable }) => nullable))
    command.option(
      '--null <flag>',
      'send null for this field, such as --null description; may be repeated',
      (value: string, previous: string[] = []) => [...previous, value.replace(/^--/, '')],
    );
  if (row.response === 'pages') command.option('--all', 'every page, one item a line as JSON');
  if (row.idempotent)
    command.option('--idempotency-key <key>', 'repeat the call with the same key and it is done once');
}
