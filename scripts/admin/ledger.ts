import { findWorkspaceOfClient, type LedgerLine, pagesOfLedger } from '../../db/queries/credits/entries.ts';
import { type Command, CommandError, UsageError, uuid } from './command.ts';
import { csvLine } from './csv.ts';
import { printable } from './printable.ts';

const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;

/** A date or a time in UTC; undefined when the option is absent. */
function moment(value: unknown, name: string): Date | undefined {
  if (value === undefined) return undefined;
  const parsed = typeof value === 'string' && DATE.test(value) ? new Date(value) : undefined;
  // Date takes 30 February for 2 March.
  if (!parsed || Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== String(value).slice(0, 10))
    throw new UsageError(`${name} must be a date such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z`);
  return parsed;
}

const shown = ({ id, lotId, messageId, conversationId, ...line }: LedgerLine) => ({
  publicId: id,
  ...line,
  lotPublicId: lotId,
  messagePublicId: messageId,
  conversationPublicId: conversationId,
});

const COLUMNS = [
  'createdAt',
  'kind',
  'amount',
  'source',
  'expiresAt',
  'key',
  'note',
  'messagePublicId',
  'conversationPublicId',
  'lotPublicId',
  'publicId',
] as const;

/** One JSON value, a line for each page: the whole ledger is never in memory. */
async function* asJson(head: object, pages: AsyncIterable<LedgerLine[]>): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"entries":[`;
  let between = '';
  for await (const page of pages) {
    yield between + page.map((line) => JSON.stringify(shown(line))).join(',');
    between = ',';
  }
  yield ']}';
}

async function* asCsv(pages: AsyncIterable<LedgerLine[]>): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for await (const page of pages) {
    const lines = page.map(shown).map((line) => csvLine(COLUMNS.map((column) => line[column])));
    yield lines.join('\n');
  }
}

async function* asText(pages: AsyncIterable<LedgerLine[]>): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const page of pages) {
    isEmpty = false;
    const lines = page.map(({ createdAt, kind, amount, source, messageId, note, key }) =>
      [
        createdAt.toISOString(),
        kind.padEnd(10),
        String(amount).padStart(10),
        (source ?? '').padEnd(7),
        messageId ?? printable(note ?? key),
      ].join('  '),
    );
    yield lines.join('\n');
  }
  if (isEmpty) yield 'none';
}

/** The ledger of a client: each change of its credits. */
export const ledgerCommands: Record<string, Command> = {
  list: {
    usage: '--client ID [--from DATE] [--to DATE] [--csv]',
    words: 0,
    options: {
      client: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      csv: { type: 'boolean' },
    },
    prepare(_words, options) {
      const clientId = uuid(options.client, '--client');
      const from = moment(options.from, '--from') ?? new Date(0);
      const to = moment(options.to, '--to') ?? null;
      if (options.json && options.csv) throw new UsageError('--json and --csv exclude each other');
      return async (database) => {
        const workspaceId = await findWorkspaceOfClient(database.system, clientId);
        if (workspaceId === undefined) throw new CommandError(`There is no client ${clientId}`);
        const pages = pagesOfLedger(database.forWorkspace(workspaceId), workspaceId, { clientId, from, to });
        const head = { workspacePublicId: workspaceId, clientPublicId: clientId, from, to };
        if (options.json) return { lines: asJson(head, pages) };
        return { lines: options.csv ? asCsv(pages) : asText(pages) };
      };
    },
  },
};
