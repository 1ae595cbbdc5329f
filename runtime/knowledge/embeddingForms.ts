import { createHash } from 'node:crypto';
import type { EmbeddingModelName } from '../models/settings.ts';

/**
 * What a model wants around a text. Models that were trained with a text before a query or a passage find much less without it, and no
 * server adds it.
 */
export interface EmbeddingForms {
  /** Stands before a query. */
  query: string;
  /** Stands before a passage. */
  passage: string;
  /** The task types of Google's API, which go beside the text. */
  tasks?: { query: 'RETRIEVAL_QUERY'; passage: 'RETRIEVAL_DOCUMENT' };
}

const NONE: EmbeddingForms = { query: '', passage: '' };
const TASK = 'Given a web search query, retrieve relevant passages that answer the query';
const INSTRUCT: EmbeddingForms = { query: `Instruct: ${TASK}\nQuery: `, passage: '' };
const ENGLISH_SENTENCE = 'Represent this sentence for searching relevant passages: ';
const GEMMA: EmbeddingForms = { query: 'task: search result | query: ', passage: 'title: none | text: ' };

/**
 * By what is in a model's id, in lower case and with `-` for `_`; the first line that fits counts. Servers write one model in many ways:
 * `intfloat/multilingual-e5-large`, `jeffh/intfloat-multilingual-e5-large:f16`, `text-embedding-nomic-embed-text-v1.5`, `bge-m3-q8_0.gguf`. The
 * strings are those of the models' cards and of their `config_sentence_transformers.json` on huggingface.co.
 */
const FORMS: readonly [RegExp, EmbeddingForms][] = [
  // These take a text as it is, and have names like those below.
  [/bge-m3|bge-reranker/, NONE],
  // Without a space after the colon, as in the model's own configuration.
  [/qwen3-(vl-)?embedding/, { query: `Instruct: ${TASK}\nQuery:`, passage: '' }],
  [/e5-.*instruct|e5-mistral|gte-qwen|sfr-embedding|linq-embed-mistral|nv-embed|stella-en/, INSTRUCT],
  [/bge-multilingual-gemma/, { query: `<instruct>${TASK}\n<query>`, passage: '' }],
  [/(^|[^a-z0-9])(multilingual-|m)?e5-(small|base|large)/, { query: 'query: ', passage: 'passage: ' }],
  [/mxbai-embed-de/, { query: 'query: ', passage: 'passage: ' }],
  [/nomic-embed-code/, { query: 'Represent this query for searching relevant code: ', passage: '' }],
  [/nomic-embed|nomic-bert|modernbert-embed/, { query: 'search_query: ', passage: 'search_document: ' }],
  [/bge-(small|base|large)-zh/, { query: '为这个句子生成表示以用于检索相关文章：', passage: '' }],
  [/bge-(small|base|large)/, { query: ENGLISH_SENTENCE, passage: '' }],
  [/mxbai-embed/, { query: ENGLISH_SENTENCE, passage: '' }],
  // The second generation has a prefix of its own; its names are `…-m-v2.0` and, at Ollama, `…-embed2`.
  [/arctic-embed(2|-[ml]-v2)/, { query: 'query: ', passage: '' }],
  [/arctic-embed/, { query: ENGLISH_SENTENCE, passage: '' }],
  [/embedding-?gemma/, GEMMA],
  [/jina-embeddings-v4/, { query: 'Query: ', passage: 'Passage: ' }],
];

/** Google's second model has the texts of EmbeddingGemma and ignores task types; those before it have task types. */
const GOOGLE_FORMS: readonly [RegExp, EmbeddingForms][] = [
  [/gemini-embedding-2/, GEMMA],
  [/./, { ...NONE, tasks: { query: 'RETRIEVAL_QUERY', passage: 'RETRIEVAL_DOCUMENT' } }],
];

/**
 * Models that were trained with English texts only, by what is in their ids, from their cards on huggingface.co. Ids of multilingual
 * relatives do not fit, such as `multilingual-e5-small`, `nomic-embed-text-v2-moe` and `snowflake-arctic-embed2`.
 */
const ENGLISH_ONLY =
  /all-minilm|all-mpnet-base|multi-qa-minilm|(^|[^a-z0-9-])e5-(small|base|large)-v2|bge-(small|base|large)(?!-zh)|nomic-embed-text(?!-v2)|mxbai-embed-large|arctic-embed(?!2|-[ml]-v2)|gte-(small|base|large)(?!-zh)/;

/** Whether a model is known to know no language but English. */
export function isEnglishOnly({ provider, modelId }: Pick<EmbeddingModelName, 'provider' | 'modelId'>): boolean {
  return provider === 'openai-compatible' && ENGLISH_ONLY.test(modelId.toLowerCase());
}

/** A model's id has up to 200 characters, and the name of its vectors up to 300. */
const MAX_FORM_CHARS = 70;

/** What a model wants around a text: what its settings say, or else what is known of it by its id. */
export function embeddingForms({ provider, modelId, queryPrefix, passagePrefix }: EmbeddingModelName): EmbeddingForms {
  const known = provider === 'openai' ? [] : provider === 'google' ? GOOGLE_FORMS : FORMS;
  const id = modelId.toLowerCase().replaceAll('_', '-');
  const { query, passage, ...more } = known.find(([pattern]) => pattern.test(id))?.[1] ?? NONE;
  return { query: queryPrefix ?? query, passage: passagePrefix ?? passage, ...more };
}

/**
 * The name under which vectors of a model are stored. Only vectors of one name can be compared: what stands around the passages is a part of
 * it, and what stands around queries is none.
 */
export function embeddingModelKey(model: EmbeddingModelName): string {
  const { passage, tasks } = embeddingForms(model);
  const whole = `${tasks?.passage ?? ''}${passage === '' ? '' : JSON.stringify(passage)}`;
  const form = whole.length > MAX_FORM_CHARS ? createHash('sha256').update(whole).digest('hex').slice(0, 16) : whole;
  return `${model.provider}/${model.modelId}${form === '' ? '' : ` ${form}`}`;
}
