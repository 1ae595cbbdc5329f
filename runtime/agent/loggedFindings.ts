import { shorten } from '../../core/text.ts';
import type { KnowledgeFindings, KnowledgeRank } from '../knowledge/search.ts';

/**
 * What a search found, as it is stored with the step that it was made for: where the passages are and why, without their texts. That for a message
 * stands with the input of its agent's first step, that of a tool with the output of its call.
 */
export interface LoggedFindings {
  query: string;
  /** A part of the search failed. */
  isIncomplete: boolean;
  /** Best first. */
  passages: {
    sourceId: string;
    sourceName: string;
    seq: number;
    heading: string | null;
    page: number | null;
    score: number;
    byWords: KnowledgeRank | null;
    byMeaning: KnowledgeRank | null;
  }[];
}

const MAX_QUERY = 1_000;
const MAX_HEADING = 300;

/** What is stored of what a search found. */
export function loggedFindings({ query, isIncomplete, hits }: KnowledgeFindings): LoggedFindings {
  return {
    query: shorten(query, MAX_QUERY),
    isIncomplete,
    passages: hits.map(({ sourceId, sourceName, seq, heading, page, score, byWords, byMeaning }) => ({
      sourceId,
      sourceName,
      seq,
      heading: heading && shorten(heading, MAX_HEADING),
      page,
      score,
      byWords,
      byMeaning,
    })),
  };
}
