import { embeddingForms, embeddingModelKey, isEnglishOnly } from '../../../runtime/knowledge/embeddingForms.ts';
import { embedPassages, embedQuery } from '../../../runtime/knowledge/embeddings.ts';
import { startEmbeddingServer } from '../../support/servers/embeddingServer.ts';

const WEB_SEARCH = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';
const SENTENCE = 'Represent this sentence for searching relevant passages: ';

const of = (modelId: string) => embeddingForms({ provider: 'openai-compatible', modelId });

test.each([
  ['intfloat/multilingual-e5-large', 'query: ', 'passage: '],
  ['intfloat/e5-base-v2', 'query: ', 'passage: '],
  ['jeffh/intfloat-multilingual-e5-small:f16', 'query: ', 'passage: '],
  ['multilingual-e5-base-Q8_0.gguf', 'query: ', 'passage: '],
  ['intfloat/multilingual-e5-large-instruct', `${WEB_SEARCH} `, ''],
  ['intfloat/e5-mistral-7b-instruct', `${WEB_SEARCH} `, ''],
  ['Alibaba-NLP/gte-Qwen2-7B-instruct', `${WEB_SEARCH} `, ''],
  ['Qwen/Qwen3-Embedding-0.6B', WEB_SEARCH, ''],
  ['qwen3-embedding:8b', WEB_SEARCH, ''],
  ['nomic-embed-text', 'search_query: ', 'search_document: '],
  ['text-embedding-nomic-embed-text-v1.5', 'search_query: ', 'search_document: '],
  ['nomic-ai/nomic-embed-text-v2-moe', 'search_query: ', 'search_document: '],
  ['BAAI/bge-large-en-v1.5', SENTENCE, ''],
  ['bge-large:335m', SENTENCE, ''],
  ['BAAI/bge-small-zh-v1.5', '为这个句子生成表示以用于检索相关文章：', ''],
  ['mixedbread-ai/mxbai-embed-large-v1', SENTENCE, ''],
  ['snowflake-arctic-embed:335m', SENTENCE, ''],
  ['Snowflake/snowflake-arctic-embed-m-v1.5', SENTENCE, ''],
  ['Snowflake/snowflake-arctic-embed-l-v2.0', 'query: ', ''],
  ['snowflake-arctic-embed2', 'query: ', ''],
  ['intfloat_multilingual_e5_small', 'query: ', 'passage: '],
  ['nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
  ['NovaSearch/stella_en_1.5B_v5', `${WEB_SEARCH} `, ''],
  ['jinaai/jina-embeddings-v4-text-retrieval-GGUF', 'Query: ', 'Passage: '],
  ['google/embeddinggemma-300m', 'task: search result | query: ', 'title: none | text: '],
  // These take a text as it is.
  ['BAAI/bge-m3', '', ''],
  ['all-minilm', '', ''],
  ['jinaai/jina-embeddings-v2-base-de', '', ''],
  ['sentence-transformers/paraphrase-multilingual-mpnet-base-v2', '', ''],
  ['Alibaba-NLP/gte-multilingual-base', '', ''],
  ['ibm-granite/granite-embedding-278m-multilingual', '', ''],
])('%s', (modelId, query, passage) => {
  expect(of(modelId)).toEqual({ query, passage });
});

test('models of OpenAI take a text as it is, and those of Google a task', () => {
  expect(embeddingForms({ provider: 'openai', modelId: 'text-embedding-3-small' })).toEqual({ query: '', passage: '' });
  expect(embeddingForms({ provider: 'google', modelId: 'gemini-embedding-001' })).toEqual({
    query: '',
    passage: '',
    tasks: { query: 'RETRIEVAL_QUERY', passage: 'RETRIEVAL_DOCUMENT' },
  });
  expect(embeddingForms({ provider: 'google', modelId: 'gemini-embedding-2' })).toEqual({
    query: 'task: search result | query: ',
    passage: 'title: none | text: ',
  });
});

test('settings replace what is known of a model', () => {
  const model = { provider: 'openai-compatible', modelId: 'multilingual-e5-base' } as const;
  expect(embeddingForms({ ...model, queryPrefix: 'Q ' })).toEqual({ query: 'Q ', passage: 'passage: ' });
  expect(embeddingForms({ ...model, queryPrefix: '', passagePrefix: '' })).toEqual({ query: '', passage: '' });
});

describe('the name under which vectors are stored', () => {
  const key = (modelId: string, more: object = {}) =>
    embeddingModelKey({ provider: 'openai-compatible', modelId, ...more });

  test('says what stands before passages', () => {
    expect(key('bge-m3')).toBe('openai-compatible/bge-m3');
    expect(key('e5-base')).toBe('openai-compatible/e5-base "passage: "');
    expect(key('e5-base', { passagePrefix: '' })).toBe('openai-compatible/e5-base');
    expect(key('bge-m3', { passagePrefix: 'doc\n' })).toBe('openai-compatible/bge-m3 "doc\\n"');
    expect(embeddingModelKey({ provider: 'google', modelId: 'gemini-embedding-001' })).toBe(
      'google/gemini-embedding-001 RETRIEVAL_DOCUMENT',
    );
  });

  test('does not depend on what stands before queries: the vectors are the same', () => {
    expect(key('bge-large', { queryPrefix: 'other ' })).toBe('openai-compatible/bge-large');
  });

  test('fits its column, however long the model and its prefix are', () => {
    expect(key('x'.repeat(200), { passagePrefix: '\n'.repeat(60) }).length).toBeLessThanOrEqual(300);
    expect(key('x'.repeat(200), { passagePrefix: '\n'.repeat(60) })).not.toBe(
      key('x'.repeat(200), { passagePrefix: '\n'.repeat(59) }),
    );
  });
});

test('what is sent has the text before it, and Google its task', async () => {
  const server = await startEmbeddingServer();
  try {
    const embed = async (provider: 'google' | 'openai-compatible', modelId: string) => {
      const settings = server.settings({ embeddings: { provider, modelId } });
      for await (const _ of embedPassages(settings, ['a cat', 'a dog'], { workspaceId: 'one' }));
      await embedQuery(settings, 'a cat');
      return server.requests.splice(0).map(({ texts, tasks }) => ({ texts, tasks }));
    };
    expect(await embed('openai-compatible', 'nomic-embed-text')).toEqual([
      { texts: ['search_document: a cat', 'search_document: a dog'], tasks: [] },
      { texts: ['search_query: a cat'], tasks: [] },
    ]);
    expect(await embed('google', 'gemini-embedding-001')).toEqual([
      { texts: ['a cat', 'a dog'], tasks: ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_DOCUMENT'] },
      { texts: ['a cat'], tasks: ['RETRIEVAL_QUERY'] },
    ]);
  } finally {
    await server.close();
  }
});

test('models that know no language but English are told by their ids', () => {
  const knows = (modelId: string) => isEnglishOnly({ provider: 'openai-compatible', modelId });
  const english = ['all-minilm', 'sentence-transformers/all-MiniLM-L6-v2', 'intfloat/e5-base-v2', 'bge-large:335m']
    .concat('BAAI/bge-small-en-v1.5', 'nomic-embed-text', 'text-embedding-nomic-embed-text-v1.5', 'mxbai-embed-large')
    .concat('snowflake-arctic-embed:335m', 'thenlper/gte-base');
  const others = [
    'bge-m3',
    'BAAI/bge-small-zh-v1.5',
    'intfloat/multilingual-e5-base',
    'nomic-ai/nomic-embed-text-v2-moe',
  ]
    .concat(
      'snowflake-arctic-embed2',
      'Snowflake/snowflake-arctic-embed-l-v2.0',
      'paraphrase-multilingual',
      'embeddinggemma',
    )
    .concat('mixedbread-ai/deepset-mxbai-embed-de-large-v1', 'Alibaba-NLP/gte-multilingual-base', 'a-model-of-mine');
  expect(english.filter((id) => !knows(id))).toEqual([]);
  expect(others.filter(knows)).toEqual([]);
  expect(isEnglishOnly({ provider: 'openai', modelId: 'all-minilm' })).toBe(false);
});
