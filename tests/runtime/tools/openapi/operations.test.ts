import { isFields } from '../../../../runtime/tools/openapi/document.ts';
import { candidateOf, candidatesOf } from '../../../../runtime/tools/openapi/operations.ts';
import { documentOf, faultsOf, imported, importFrom } from '../../../support/tools/openapiDocuments.ts';

const documentWith = (paths: object) => documentOf({}, { paths });
const namesOf = (paths: object) => [...candidatesOf({ paths }).byName.keys()];

describe('operations without an operationId', () => {
  test('are named by method and path', () => {
    const paths = {
      '/': { get: {} },
      '/repos/{owner}/{repo}/issues': { get: { operationId: '' }, post: { operationId: 7 } },
      '/v1.2/a-b/~x/{id}:cancel/': { delete: {} },
      '/größe/{ä}': { put: {} },
    };
    expect(namesOf(paths)).toEqual([
      'get',
      'get_repos_owner_repo_issues',
      'post_repos_owner_repo_issues',
      'delete_v1_2_a-b_x_id_cancel',
      'put_gr_e',
    ]);
  });

  test('may be asked for by that name, or by method and path', () => {
    const document = documentWith({
      '/a/{b}': { parameters: [{ name: 'b', in: 'path' }], get: {} },
      '/c': { get: {} },
    });
    const { endpoints } = importFrom(document, { wanted: ['get_a_b', ' get  /c '] });
    expect(endpoints.map(({ operationId, path }) => [operationId, path])).toEqual([
      ['get_a_b', '/a/{b}'],
      ['get_c', '/c'],
    ]);
  });

  test('have distinct names of at most 64 characters, whatever their order', () => {
    const long = '/segment'.repeat(20);
    const paths: [string, object][] = [
      [`${long}/a`, { get: {} }],
      [`${long}/b`, { get: {} }],
      ['/a/b', { get: {} }],
      ['/a_b', { get: {} }],
      ['/a/{b}', { get: {} }],
      ['/taken', { get: {}, post: { operationId: 'get_taken' } }],
    ];
    const names = namesOf(Object.fromEntries(paths));
    expect(names).toHaveLength(7);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(namesOf(Object.fromEntries(paths.toReversed())))).toEqual(new Set(names));
    expect(names).toContain('get_taken');
  });
});

test('two operations with one operationId are asked for by method and path', () => {
  const document = documentWith({ '/a': { get: { operationId: 'op' }, put: { operationId: 'op' } } });
  const { faults } = importFrom(document);
  expect(faults).toMatchObject([{ field: 'operations', steps: [0], message: expect.stringContaining('uses twice') }]);
  expect(imported(document, { wanted: ['PUT /a'] })).toMatchObject({ operationId: 'put_a', method: 'PUT' });
});

test('an operation that is asked for twice, by two names, is refused', () => {
  const document = documentWith({ '/a': { get: { operationId: 'op' } } });
  expect(faultsOf(document, { wanted: ['op', 'GET /a'] })).toEqual(['operations 1']);
});

test('of 100,000 operations one is imported, and no other is looked at', () => {
  const paths: Record<string, object> = {};
  // Nobody could import these: a place that is none, and a reference to nothing.
  const broken = { parameters: [{ in: 'nowhere' }], requestBody: { $ref: '#/no' } };
  for (let count = 0; count < 100_000; count += 1) paths[`/things/${count}`] = { get: broken };
  const document = documentWith({ ...paths, '/wanted': { get: { summary: 'Here' } } });
  expect(imported(document, { wanted: ['GET /wanted'] })).toMatchObject({
    operationId: 'get_wanted',
    description: 'Here',
  });
}); // under a second

test('names that one digest would not keep apart are told apart', () => {
  const paths: Record<string, object> = {};
  for (let count = 0; count < 20_000; count += 1) paths[`/${'x'.repeat(70)}/${count}`] = { get: {} };
  const index = candidatesOf({ paths });
  expect(index.byName.size).toBe(20_000);
  const one = candidateOf(index, `GET /${'x'.repeat(70)}/7`);
  expect(isFields(one) && String(one.name).length).toBe(64);
});
