import type { Document, Operation } from '../../spec/rules/types.ts';
import { listedOperations } from '../specDiff/reach.ts';
import { type DocumentMutant, type DocumentPath, partAt } from './documentMutant.ts';

type Node = Record<string, unknown>;

/** The mutants of operations, shared responses and the document as a whole. */
export function operationMutants(document: Document): DocumentMutant[] {
  const mutants: DocumentMutant[] = [];
  const add = (kind: string, place: string, apply: (document: Document) => void) =>
    mutants.push({ kind, place, apply });
  for (const { url, method, id } of listedOperations(document.paths)) {
    const path: DocumentPath = ['paths', url, method];
    const operation = partAt<Operation & Node>(document, path);
    const edit = (kind: string, detail: unknown, change: (copy: Operation & Node) => void) =>
      add(kind, `${id} ${String(detail)}`.trim(), (copy) => change(partAt(copy, path)));
    add('operation dropped', id, (copy) => delete partAt<Node>(copy, ['paths', url])[method]);
    edit('operation renamed', '', (copy) => {
      copy.operationId = `${id}X`;
    });
    edit('tag renamed', '', (copy) => {
      copy.tags = ['Mutated'];
    });
    edit('key form dropped', '', (copy) => {
      copy.security = [{ ApiKey: [] }];
    });
    if (!operation['x-not-implemented'])
      edit('operation not served', '', (copy) => {
        copy['x-not-implemented'] = true;
      });
    parameterMutants(operation, edit);
    answerMutants(operation, edit);
  }
  for (const [name, response] of Object.entries(document.components?.responses ?? {}) as [string, Node][]) {
    const path: DocumentPath = ['components', 'responses', name];
    for (const header of Object.keys(response.headers ?? {}))
      add('header dropped', `${name} ${header}`, (copy) => delete partAt<Node>(copy, [...path, 'headers'])[header]);
    for (const type of Object.keys(response.content ?? {}))
      add('media type renamed', `${name} ${type}`, (copy) => rename(partAt<Node>(copy, [...path, 'content']), type));
    for (const [index, code] of ((response['x-error-codes'] ?? []) as string[]).entries())
      add('shared error code dropped', `${name} ${code}`, (copy) =>
        partAt<string[]>(copy, [...path, 'x-error-codes']).splice(index, 1),
      );
  }
  add('server moved', '', (copy) => {
    copy.servers = [{ url: '/public/api/v2' }];
  });
  for (const scheme of Object.keys(document.components?.securitySchemes ?? {}))
    add('key form changed', scheme, (copy) =>
      Object.assign(partAt<Node>(copy, ['components', 'securitySchemes', scheme]), {
        type: 'apiKey',
        in: 'query',
        name: 'key',
      }),
    );
  return mutants;
}

type Edit = (kind: string, detail: unknown, change: (copy: Operation & Node) => void) => void;

function parameterMutants({ parameters = [], requestBody }: Operation, edit: Edit): void {
  for (const [index, parameter] of parameters.entries()) {
    edit('parameter dropped', parameter.$ref ?? parameter.name, (copy) => copy.parameters?.splice(index, 1));
    if (parameter.$ref === undefined && parameter.in !== 'path')
      edit('parameter required flipped', parameter.name, (copy) =>
        Object.assign(copy.parameters?.[index] ?? {}, { required: !parameter.required }),
      );
  }
  edit('required parameter added', '', (copy) => {
    copy.parameters = [
      ...(copy.parameters ?? []),
      { name: 'mutated', in: 'query', required: true, schema: { type: 'string' } },
    ];
  });
  if (requestBody === undefined) {
    edit('required body added', '', (copy) => {
      copy.requestBody = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
    });
    return;
  }
  edit('body dropped', '', (copy) => delete copy.requestBody);
  edit('body required flipped', '', (copy) =>
    Object.assign(copy.requestBody ?? {}, { required: !requestBody.required }),
  );
  for (const type of Object.keys(requestBody.content ?? {}))
    edit('media type renamed', `body ${type}`, (copy) => rename(copy.requestBody?.content ?? {}, type));
}

function answerMutants(operation: Operation & Node, edit: Edit): void {
  const { responses = {}, 'x-error-codes': codes = {} } = operation;
  for (const [status, response] of Object.entries(responses)) {
    if (Number(status) >= 400) edit('error answer dropped', status, (copy) => delete copy.responses?.[status]);
    else
      edit('success has another status', status, (copy) =>
        rename(copy.responses ?? {}, status, status === '299' ? '298' : '299'),
      );
    for (const type of Object.keys(response.content ?? {}))
      edit('media type renamed', `${status} ${type}`, (copy) => rename(copy.responses?.[status]?.content ?? {}, type));
    for (const header of Object.keys((response as Node).headers ?? {}))
      edit('header dropped', `${status} ${header}`, ({ responses: answers = {} }) => {
        delete ((answers[status] as Node).headers as Node)[header];
      });
  }
  for (const [status, list] of Object.entries(codes)) {
    edit('error code added', status, (copy) => copy['x-error-codes']?.[status]?.push('MUTATED'));
    for (const [index, code] of list.entries()) {
      edit('error code dropped', `${status} ${code}`, (copy) => copy['x-error-codes']?.[status]?.splice(index, 1));
      edit('error code renamed', `${status} ${code}`, (copy) =>
        copy['x-error-codes']?.[status]?.splice(index, 1, `${code}_X`),
      );
    }
  }
}

function rename(node: Node, from: string, to = `${from}-mutated`): void {
  node[to] = node[from];
  delete node[from];
}
