import type { operations } from '../../generated/api.ts';

type OperationId = keyof operations;
type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer B } };
}
  ? B
  : never;
type PartOf<Id extends OperationId, P extends 'path' | 'query'> = operations[Id]['parameters'] extends {
  [K in P]?: infer V;
}
  ? V
  : never;
type Answer<Id extends OperationId> = {
  [S in keyof operations[Id]['responses']]: S extends 200 | 201
    ? operations[Id]['responses'][S] extends { content: { 'application/json': infer B } }
      ? B
      : undefined
    : never;
}[keyof operations[Id]['responses']];
type Request<Id extends OperationId> = {
  path?: PartOf<Id, 'path'>;
  query?: PartOf<Id, 'query'>;
  body?: BodyOf<Id>;
  file?: { data: Uint8Array; name: string; type?: string };
  metadata?: object;
  idempotencyKey?: string;
};

/**
 * What the kinds call of the SDK's client.
 * It stands for `Pick<Guildhall, 'call' | 'items'>` until clients/sdk is there.
 */
export interface Api {
  call<Id extends OperationId>(id: Id, input: Request<Id>): Promise<Answer<Id>>;
  items<Id extends OperationId>(
    id: Id,
    input: Request<Id>,
  ): AsyncIterable<Answer<Id> extends { items: (infer I)[] } ? I : Answer<Id> extends (infer I)[] ? I : never>;
}
