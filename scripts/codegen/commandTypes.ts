/** A field of a query or of a body, as a flag of a command. */
export type CommandField = {
  /** Name in the request, such as `aiModelPublicId`. */
  name: string;
  /** Name of the flag, without its hyphens: `ai-model-id`. */
  flag: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'any';
  /** A list of such values: the flag may be given several times. */
  list?: true;
  /** The values that it takes. */
  choices?: string[];
  required?: true;
  /** Takes `null`. */
  nullable?: true;
  about: string;
};

/** What a command line needs to know of an operation. */
export type OperationCommand = {
  words: string[];
  method: string;
  path: string;
  summary: string;
  /** The variables of the path, in order: name in the path, label in the help. */
  variables: { name: string; label: string; about: string; choices?: string[] }[];
  query: CommandField[];
  body: 'json' | 'multipart' | 'json-or-multipart' | 'none';
  bodyRequired: boolean;
  fields: CommandField[];
  /** What the part `file` takes, for uploads. */
  file?: string;
  /** The fields of the part `metadata`, beside a file. */
  metadata?: CommandField[];
  /** How the response comes: pages, a list, one value, events, or nothing. */
  response: 'pages' | 'list' | 'value' | 'events' | 'none';
  columns?: string[];
  /** Takes an `Idempotency-Key`. */
  idempotent?: true;
  /** What follows the words in an example. */
  example: string;
};
