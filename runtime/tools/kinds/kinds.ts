import type { ToolType } from '../tool.ts';
import { customIntegration } from './customIntegration.ts';
import { databaseQuery } from './databaseQuery.ts';
import { httpRequest } from './httpRequest.ts';
import { internalVariable } from './internalVariable.ts';
import type { ToolKind } from './kind.ts';

/** Every kind of tool. A new kind is a module of its own and a line here. */
export const TOOL_KINDS: Readonly<Record<ToolType, ToolKind>> = {
  HTTP_REQUEST: httpRequest,
  DATABASE_QUERY: databaseQuery,
  INTERNAL_VARIABLE: internalVariable,
  CUSTOM_INTEGRATION: customIntegration,
};
