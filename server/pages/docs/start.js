// Whatever Scalar would call or offer beyond this service is off. The page's Content-Security-Policy forbids it as well.
const nothingOutside = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
};

Scalar.createApiReference('#reference', {
  ...nothingOutside,
  url: '/openapi.json',
  // Requests go to where the page is from, whatever address the document names.
  servers: [{ url: `${location.origin}/public/api/v1`, description: 'This server.' }],
  authentication: { preferredSecurityScheme: 'ApiKey' },
  persistAuth: true,
  documentDownloadType: 'direct',
  showOperationId: true,
  defaultOpenFirstTag: false,
  orderSchemaPropertiesBy: 'preserve',
  modelsSectionLabel: 'Schemas',
  customCss: '',
});
