/** A graph under a magnifying glass, in the grey that JupyterLab makes its theme's own. */
export const ICON = `\
<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
<g class="jp-icon3" fill="#616161">
<rect x="1" y="1" width="6" height="4" rx="1"/>
<rect x="1" y="11" width="6" height="4" rx="1"/>
<path d="M3.5 5h1v6h-1z"/>
<path d="M11 4.5a3 3 0 1 0 1.6 5.5l1.7 1.7.9-.9-1.7-1.7A3 3 0 0 0 11 4.5zm0 1.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z"/>
</g>
</svg>
`;
