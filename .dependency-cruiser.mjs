/*
 * The floors of the house, top to bottom. Imports go downward only:
 *   clients | scripts, server -> handlers, jobs -> domain -> runtime -> integrations -> db -> core -> generated
 * tests/ may import anything and is imported by nothing. Two files of generated/ look up: handlers.ts, the registry, imports the
 * handlers, and only server/ and scripts/ may import it; db.ts, the types of the tables, imports the types of stored JSON from
 * db/stored/, and only as types.
 */
const floors = [
  ['scripts', 'server'],
  ['handlers', 'jobs'],
  ['domain'],
  ['runtime'],
  ['integrations'],
  ['db'],
  ['core'],
  ['generated'],
];
const service =
  '^(server|handlers|jobs|domain|runtime|integrations|db|core|generated)/|^clients/(?!build\\.ts$)|^scripts/(start|admin)\\b';
const registry = '^generated/handlers\\.ts$';
const tableTypes = '^generated/db\\.ts$';
const storedTypes = '^db/stored/';

const upward = floors.slice(1).map((floor, index) => ({
  name: `no-upward-from-${floor.join('-')}`,
  comment: `${floor.join(' and ')} may only import what is below.`,
  severity: 'error',
  from: { path: `^(${floor.join('|')})/`, pathNot: [registry, tableTypes] },
  to: { path: `^(${[...floors.slice(0, index + 1).flat(), 'clients'].join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upward,
    {
      name: 'registry-imports-handlers-only',
      severity: 'error',
      from: { path: registry },
      to: { path: '^(clients|scripts|server|jobs|domain|runtime|integrations|db|core)/' },
    },
    {
      name: 'table-types-import-stored-types',
      comment:
        'The types of jsonb columns are in db/stored/. Nothing else above may be imported from the types of the tables.',
      severity: 'error',
      from: { path: tableTypes },
      to: {
        path: '^(clients|scripts|server|handlers|jobs|domain|runtime|integrations|db|core)/',
        pathNot: storedTypes,
      },
    },
    {
      name: 'table-types-import-types-only',
      severity: 'error',
      from: { path: tableTypes },
      to: { path: storedTypes, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'stored-types-stand-alone',
      comment: 'What is stored stays readable when the API or the code changes: its types are not derived from theirs.',
      severity: 'error',
      from: { path: storedTypes },
      to: { pathNot: [storedTypes, 'node_modules/'] },
    },
    {
      name: 'registry-for-server-and-scripts',
      comment: 'Whoever imports the registry imports every handler.',
      severity: 'error',
      from: { pathNot: '^(server|scripts|tests)/' },
      to: { path: registry },
    },
    {
      name: 'clients-know-the-contract-only',
      severity: 'error',
      from: { path: '^clients/' },
      to: {
        path: '^(scripts|server|handlers|jobs|domain|runtime|integrations|db|core|spec)/|^generated/(handlers|db)\\.ts$',
      },
    },
    {
      name: 'service-does-not-know-clients-or-spec',
      comment:
        'The service starts from generated/, never from YAML. server/routes/mcp serves the MCP server of clients/mcp, and nothing else knows a client.',
      severity: 'error',
      from: {
        path: '^(server|handlers|jobs|domain|runtime|integrations|db|core|generated)/',
        pathNot: '^server/routes/mcp/',
      },
      to: { path: '^(clients|spec)/' },
    },
    {
      name: 'the-mcp-route-knows-the-mcp-server-only',
      severity: 'error',
      from: { path: '^server/routes/mcp/' },
      to: { path: '^(clients/(?!mcp/)|spec/)' },
    },
    {
      name: 'jobs-do-not-know-handlers',
      severity: 'error',
      from: { path: '^jobs/' },
      to: { path: '^handlers/' },
    },
    {
      name: 'no-http-below-the-server',
      severity: 'error',
      from: { path: '^(handlers|jobs|domain|runtime|integrations|db|core)/' },
      to: { path: 'node_modules/(express|multer|openapi-backend|express-rate-limit)/' },
    },
    {
      name: 'one-way-to-stripe',
      comment:
        'integrations/payments/stripe/client.ts fixes the account of every call. Others may import types of the library.',
      severity: 'error',
      from: { pathNot: '^integrations/payments/stripe/client\\.ts$|^tests/' },
      to: { path: 'node_modules/stripe/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-way-to-the-payment-provider',
      comment:
        'domain/payments/paymentsOf.ts says whose account it is. Webhooks are checked without an account, and stripeCheck calls a mock only.',
      severity: 'error',
      from: {
        pathNot: '^integrations/payments/stripe/|^domain/payments/paymentsOf\\.ts$|^scripts/stripeCheck\\.ts$|^tests/',
      },
      to: { path: '^integrations/payments/stripe/(?!webhooks\\.ts$)' },
    },
    { name: 'nothing-imports-tests', severity: 'error', from: { pathNot: '^tests/' }, to: { path: '^tests/' } },
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'service-runs-without-dev-dependencies',
      severity: 'error',
      from: { path: service },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-declared-packages',
      comment: 'A package that comes with another one can leave with it.',
      severity: 'error',
      from: { pathNot: '^tests/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The pages' own sources run in browsers; esbuild bundles them.
    exclude: {
      path: '^(data|coverage|clients/[^/]+/dist|scripts/sdkCheck/programs|server/pages/chat/(source|bundle))/',
    },
    tsPreCompilationDeps: true,
    // The packages of clients/ are bundles: what they are made from is in the root's package.json.
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
