import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A repository in which each floor imports all floors that it may. */
const sound: Record<string, string> = {
  'generated/operations.ts': 'export const operations = {};',
  'generated/handlers.ts':
    "import { getAgent } from '../handlers/agents/getAgent.ts';\nexport const handlers = { getAgent };",
  'db/stored/paused.ts': 'export interface Paused {\n  format: 1;\n}',
  'generated/db.ts':
    "import type { Paused } from '../db/stored/paused.ts';\nexport interface Turns {\n  paused: Paused;\n}",
  'core/errors.ts': "import { operations } from '../generated/operations.ts';\nexport const errors = operations;",
  'db/connect.ts': "import { errors } from '../core/errors.ts';\nexport const connect = errors;",
  'integrations/mail/smtp.ts': "import { connect } from '../../db/connect.ts';\nexport const smtp = connect;",
  'integrations/payments/stripe/client.ts': "import Stripe from 'stripe';\nexport const client = Stripe;",
  'integrations/payments/stripe/stripe.ts':
    "import type { Stripe } from 'stripe';\nimport { client } from './client.ts';\nexport const smtp = client as unknown as Stripe;",
  'domain/payments/paymentsOf.ts':
    "import { smtp } from '../../integrations/payments/stripe/stripe.ts';\nexport const paymentsOf = smtp;",
  'runtime/turn.ts': "import { smtp } from '../integrations/mail/smtp.ts';\nexport const turn = smtp;",
  'domain/agents/draft/draft.ts': "import { turn } from '../../../runtime/turn.ts';\nexport const draft = turn;",
  'jobs/queue.ts': "import { draft } from '../domain/agents/draft/draft.ts';\nexport const queue = draft;",
  'handlers/agents/getAgent.ts': "import { queue } from '../../jobs/queue.ts';\nexport const getAgent = queue;",
  'server/app.ts':
    "import express from 'express';\nimport { handlers } from '../generated/handlers.ts';\nexport const app = [express, handlers];",
  'clients/cli/main.ts': "import { operations } from '../../generated/operations.ts';\nexport const main = operations;",
  'scripts/start.ts': "import { app } from '../server/app.ts';\nexport const start = app;",
  'tests/support/server.ts':
    "import request from 'supertest';\nimport { app } from '../../server/app.ts';\nexport const server = [request, app];",
};

/** One file that breaks one rule. */
const unsound: [rule: string, file: string, text: string][] = [
  [
    'no-upward-from-handlers-jobs',
    'handlers/agents/bad1.ts',
    "import { app } from '../../server/app.ts';\nexport const x = app;",
  ],
  [
    'no-upward-from-domain',
    'domain/agents/bad0.ts',
    "import { getAgent } from '../../handlers/agents/getAgent.ts';\nexport const x = getAgent;",
  ],
  ['no-upward-from-runtime', 'runtime/bad2.ts', "import { queue } from '../jobs/queue.ts';\nexport const x = queue;"],
  [
    'no-upward-from-integrations',
    'integrations/bad3.ts',
    "import { turn } from '../runtime/turn.ts';\nexport const x = turn;",
  ],
  ['no-upward-from-db', 'db/bad4.ts', "import { turn } from '../runtime/turn.ts';\nexport const x = turn;"],
  [
    'no-upward-from-core',
    'core/bad5.ts',
    "import type { connect } from '../db/connect.ts';\nexport type X = typeof connect;",
  ],
  [
    'no-upward-from-generated',
    'generated/bad6.ts',
    "import { errors } from '../core/errors.ts';\nexport const x = errors;",
  ],
  [
    'registry-for-server-and-scripts',
    'clients/bad7.ts',
    "import { handlers } from '../generated/handlers.ts';\nexport const x = handlers;",
  ],
  [
    'clients-know-the-contract-only',
    'clients/bad8.ts',
    "import { errors } from '../core/errors.ts';\nexport const x = errors;",
  ],
  [
    'service-does-not-know-clients-or-spec',
    'server/bad9.ts',
    "import { main } from '../clients/cli/main.ts';\nexport const x = main;",
  ],
  [
    'jobs-do-not-know-handlers',
    'jobs/bad10.ts',
    "import { getAgent } from '../handlers/agents/getAgent.ts';\nexport const x = getAgent;",
  ],
  ['no-http-below-the-server', 'runtime/bad11.ts', "import express from 'express';\nexport const x = express;"],
  [
    'nothing-imports-tests',
    'scripts/bad12.ts',
    "import { server } from '../tests/support/server.ts';\nexport const x = server;",
  ],
  ['no-circle', 'core/bad13.ts', "import { y } from './worse.ts';\nexport const x = () => y;"],
  ['no-unresolvable', 'core/bad14.ts', "import { y } from './nowhere.ts';\nexport const x = y;"],
  [
    'service-runs-without-dev-dependencies',
    'server/bad15.ts',
    "import request from 'supertest';\nexport const x = request;",
  ],
  [
    'stored-types-stand-alone',
    'db/stored/bad17.ts',
    "import type { operations } from '../../generated/operations.ts';\nexport type X = typeof operations;",
  ],
  ['one-way-to-stripe', 'integrations/mail/bad18.ts', "import Stripe from 'stripe';\nexport const x = Stripe;"],
  [
    'one-way-to-the-payment-provider',
    'domain/agents/bad19.ts',
    "import { smtp } from '../../integrations/payments/stripe/stripe.ts';\nexport const x = smtp;",
  ],
  ['only-declared-packages', 'server/bad16.ts', "import mime from 'mime-types';\nexport const x = mime;"],
];
/** The other half of the cycle. */
const circle = { 'core/worse.ts': "import { x } from './bad13.ts';\nexport const y = () => x;" };

/** The rules that each file of a repository breaks, by file. */
async function brokenRules(files: Record<string, string>): Promise<Map<string, string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-floors-'));
  try {
    for (const name of ['package.json', 'tsconfig.json', '.dependency-cruiser.mjs'])
      cpSync(join(root, name), join(folder, name));
    // Packages of its own: those of a link would be outside of the folder, where no rule for `node_modules/` looks.
    for (const name of ['express', 'stripe', 'supertest', 'mime-types']) {
      const place = join(folder, 'node_modules', name);
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
      writeFileSync(join(place, 'index.js'), 'module.exports = {};\n');
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), `${text}\n`);
    }
    const cli = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const args = [cli, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', '.'];
    const output = await new Promise<string>((done) => {
      execFile(process.execPath, args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 }, (_error, stdout) => done(stdout));
    });
    const { violations }: { violations: { from: string; rule: { name: string } }[] } = JSON.parse(output).summary;
    const broken = new Map<string, string[]>();
    for (const { from, rule } of violations) broken.set(from, [...(broken.get(from) ?? []), rule.name]);
    return broken;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The broken rules of the sound repository with all unsound files in it. */
let broken: Map<string, string[]>;

beforeAll(async () => {
  const added = Object.fromEntries(unsound.map(([, file, text]) => [file, text]));
  broken = await brokenRules({ ...sound, ...circle, ...added });
});

test.each(Object.keys(sound))('%s imports what it may', (file) => {
  expect(broken.get(file)).toBeUndefined();
});

test.each(unsound)('%s is noticed in %s', (rule, file) => {
  expect(broken.get(file)).toContain(rule);
});

test('the types of the tables may import the types of stored JSON, and only as types', async () => {
  const tables = [
    "import type { connect } from '../db/connect.ts';",
    "import { Paused } from '../db/stored/paused.ts';",
    'export type Turns = [Paused, typeof connect];',
  ].join('\n');
  const found = await brokenRules({ ...sound, 'generated/db.ts': tables });
  expect(found.get('generated/db.ts')?.toSorted()).toEqual([
    'table-types-import-stored-types',
    'table-types-import-types-only',
  ]);
});
