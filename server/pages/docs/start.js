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
  // Scalar's advertisement, its drawing where a response will be, a riddle in the field of the key, and a frame around the whole
  // operation that an address leads to.
  customCss: `
    .darklight-reference a[href^="https://www.scalar.com"], .ascii-art { display: none }
    .scalar-password-input::placeholder { color: transparent !important }
    section[tabindex="-1"]:focus { outline: none }
  `,
});
