import type { Kysely } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { selectLinks } from '../../db/queries/agents/agentLinks.ts';
import { findVersion } from '../../db/queries/agents/agentVersions.ts';
import type { DB } from '../../generated/db.ts';
import { type ExplainedHit, explainKnowledge, type KnowledgeExplanation } from '../../runtime/knowledge/explain.ts';
import type { KnowledgeRank } from '../../runtime/knowledge/search.ts';
import { modelSettingsFromEnv } from '../../runtime/models/settings.ts';
import { type Command, CommandError, number, optionalUuid, table, text, uuid } from './command.ts';
import { fromEnv } from './fromEnv.ts';
import { findNamedAgent } from './namedAgent.ts';
import { printable } from './printable.ts';

/** As many as a turn gets. */
const DEFAULT_LIMIT = 6;
const LIMIT = { min: 1, max: 50, integer: true };
const MAX_WORDS = 4_000;
/** Characters of a passage in the text for people. */
const SHOWN = 200;

/** The workspace of the agent, and the sources that its turns search: those of the published version, or of the draft if there is none. */
async function sourcesOf(database: Database, agentId: string, given: string | undefined) {
  const { workspaceId, db, agent } = await findNamedAgent(database, agentId, given);
  const sourceIds =
    agent.published_version_number === null
      ? await draftSources(db, workspaceId, agentId)
      : await publishedSources(db, workspaceId, agentId, agent.published_version_number);
  return { workspaceId, db, sourceIds, versionNumber: agent.published_version_number };
}

async function draftSources(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<string[]> {
  const links = await selectLinks(db, workspaceId, agentId, 'knowledge_source');
  return links.filter(({ active }) => active).map(({ target_id }) => target_id);
}

async function publishedSources(db: Kysely<DB>, workspaceId: string, agentId: string, versionNumber: number) {
  const version = await findVersion(db, workspaceId, agentId, versionNumber);
  return (version?.snapshot.knowledgeSources ?? [])
    .filter(({ active }) => active)
    .map(({ knowledgeSourcePublicId }) => knowledgeSourcePublicId);
}

const rank = (found: KnowledgeRank | null): string =>
  found === null ? 'not found' : `rank ${found.rank}, score ${found.score.toFixed(3)}`;

function paragraph(hit: ExplainedHit, place: number): string {
  const where = [printable(hit.sourceName), `passage ${hit.seq}`, hit.page === null ? [] : `page ${hit.page}`].flat();
  const words = hit.matched.map(({ word, as, rarity }) => {
    const other = as.filter((form) => form !== word);
    return `${word} ${rarity.toFixed(1)}${other.length === 0 ? '' : ` as ${other.join(', ')}`}`;
  });
  return [
    `${place}. ${where.join(', ')}: score ${hit.score.toFixed(3)}`,
    ...(hit.heading === null ? [] : [`   ${printable(hit.heading)}`]),
    `   by words    ${rank(hit.byWords)}`,
    `   by meaning  ${rank(hit.byMeaning)}`,
    `   words       ${words.length === 0 ? 'none' : printable(words.join('; '))}`,
    `   ${printable(hit.content).slice(0, SHOWN)}`,
  ].join('\n');
}

function explained({ hits, words, isIncomplete }: KnowledgeExplanation, hasMeaning: boolean): string {
  const counted = table(
    ['WORD', 'RARITY', 'PASSAGES', 'STEMS', 'WORDS LIKE IT'],
    words.map(({ word, rarity, passages, stems, others }) =>
      [word, rarity.toFixed(1), String(Math.round(passages)), stems.join(', '), others.join(', ')].map(printable),
    ),
  );
  return [
    counted,
    ...(hasMeaning ? [] : ['Searched by words only: no model for embeddings is configured.']),
    ...(isIncomplete ? ['A part of the search failed: passages may be missing.'] : []),
    ...(hits.length === 0 ? ['Nothing is found.'] : hits.map((hit, index) => paragraph(hit, index + 1))),
  ].join('\n\n');
}

/** What agents find in their knowledge. */
export const knowledgeCommands: Record<string, Command> = {
  search: {
    usage: '--agent AGENTID [--workspace ID] [--limit N] "WORDS"',
    words: 1,
    options: { agent: { type: 'string' }, workspace: { type: 'string' }, limit: { type: 'string' } },
    prepare([word], options) {
      const agentId = uuid(options.agent, '--agent');
      const given = optionalUuid(options.workspace, '--workspace');
      const limit = number(options.limit, '--limit', LIMIT) ?? DEFAULT_LIMIT;
      const query = text(word, 'WORDS', MAX_WORDS);
      return async (database, env) => {
        const { workspaceId, db, sourceIds, versionNumber } = await sourcesOf(database, agentId, given);
        if (sourceIds.length === 0) throw new CommandError(`Agent ${agentId} has no knowledge sources`);
        const models = fromEnv(env, modelSettingsFromEnv);
        const found = await explainKnowledge({ db, workspaceId, runtime: { models } }, { query, sourceIds, limit });
        return {
          json: { agentPublicId: agentId, versionNumber, sourcePublicIds: sourceIds, ...shownWhole(found) },
          text: explained(found, models.embeddings !== undefined),
        };
      };
    },
  },
};

function shownWhole({ query, words, hits, isIncomplete }: KnowledgeExplanation) {
  return {
    query,
    isIncomplete,
    words: words.map(({ word, stems, others, passages, rarity }) => ({ word, stems, others, passages, rarity })),
    hits: hits.map(({ sourceId, ...hit }) => ({ sourcePublicId: sourceId, ...hit })),
  };
}
