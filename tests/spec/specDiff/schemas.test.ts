import { fieldOf, type Row, schemaOf, testRows } from './realDocument.ts';

const schemas: Row[] = [
  [
    'breaking',
    'a field is gone from a response',
    (d) => delete schemaOf(d, 'Agent').properties.systemPrompt,
    /^Agent.systemPrompt {2}is gone \(in \d+ answers\)$/,
  ],
  [
    'breaking',
    'a field of a response may be null',
    (d) => Object.assign(fieldOf(d, 'Agent.name'), { type: ['string', 'null'] }),
    /^Agent.name {2}may be null now \(in \d+ answers\)$/,
  ],
  [
    'addition',
    'a field of a response is never null',
    (d) => Object.assign(fieldOf(d, 'Agent.systemPrompt'), { type: 'string' }),
    /^Agent.systemPrompt {2}is never null now/,
  ],
  [
    'breaking',
    'a field of a response may be absent',
    (d) => schemaOf(d, 'Agent').required.shift(),
    /^Agent.\w+ {2}may be absent now/,
  ],
  [
    'addition',
    'a field is new in a response',
    (d) => {
      schemaOf(d, 'Agent').properties.colour = { type: 'string' };
      schemaOf(d, 'Agent').required.push('colour');
    },
    /^Agent.colour {2}is a new field, required/,
  ],
  [
    'breaking',
    'a required field is new in a request',
    (d) => {
      schemaOf(d, 'AgentCreate').properties.owner = { type: 'string' };
      schemaOf(d, 'AgentCreate').required.push('owner');
    },
    /^AgentCreate.owner {2}is a new field, required \(in 1 request\)$/,
  ],
  [
    'addition',
    'an optional field is new in a request',
    (d) => {
      schemaOf(d, 'AgentCreate').properties.owner = { type: 'string' };
    },
    /^AgentCreate.owner {2}is a new field \(in 1 request\)$/,
  ],
  [
    'breaking',
    'a field is gone from a strict request',
    (d) => delete schemaOf(d, 'AgentCreate').properties.description,
    /^AgentCreate.description {2}is gone \(in 1 request\)$/,
  ],
  [
    'breaking',
    'a field of a request may no longer be null',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.description'), { type: 'string' }),
    /^AgentCreate.description {2}is never null now/,
  ],
  [
    'addition',
    'a field of a request may be null',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.name'), { type: ['string', 'null'] }),
    /^AgentCreate.name {2}may be null now/,
  ],
  [
    'breaking',
    'a text of a request must be shorter',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.name'), { maxLength: 20 }),
    /^AgentCreate.name {2}maxLength 150 → 20 \(in 1 request\)$/,
  ],
  [
    'addition',
    'a text of a request may be longer',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.name'), { maxLength: 900 }),
    /^AgentCreate.name {2}maxLength 150 → 900/,
  ],
  [
    'breaking',
    'items of a request must be shorter',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.categories').items ?? {}, { maxLength: 5 }),
    /^AgentCreate.categories\[\] {2}maxLength \d+ → 5/,
  ],
  [
    'addition',
    'a strict request opens',
    (d) => delete schemaOf(d, 'AgentCreate').additionalProperties,
    /^AgentCreate {2}takes further fields \(in 1 request\)$/,
  ],
  [
    'breaking',
    'a field refers to another schema',
    (d) => Object.assign(fieldOf(d, 'Agent.status'), { $ref: '#/components/schemas/KnowledgeSource' }),
    /^Agent.status {2}(type string → object|is the schema `KnowledgeSource` and no longer `AgentStatus`)/,
  ],
  [
    'addition',
    'a new schema is used by a new field',
    (d) => {
      Object.assign(d.components?.schemas ?? {}, { Colour: { type: 'string', enum: ['red'] } });
      schemaOf(d, 'Agent').properties.colour = { $ref: '#/components/schemas/Colour' };
    },
    /^Agent.colour {2}is a new field/,
  ],
  [
    'generated code',
    'a schema is written in place',
    (d) => {
      const copy = structuredClone(schemaOf(d, 'ApprovalDecision'));
      Object.assign(
        d,
        JSON.parse(
          JSON.stringify(d).replaceAll('{"$ref":"#/components/schemas/ApprovalDecision"}', JSON.stringify(copy)),
        ),
      );
      delete d.components?.schemas?.ApprovalDecision;
    },
    /ApprovalDecision/,
  ],
];

describe('schemas', () => testRows(schemas));
