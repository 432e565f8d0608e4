{{/* Environment of the service: the flags of `sandhaven up` as variables, and its secrets. */}}

{{- define "sandhaven.env" -}}
- name: SANDHAVEN_LISTEN
  value: 0.0.0.0:7420
- name: SANDHAVEN_PREVIEW_LISTEN
  value: 0.0.0.0:7421
- name: SANDHAVEN_SSH_LISTEN
  value: 0.0.0.0:7422
- name: SANDHAVEN_PUBLIC_URL
  value: {{ include "sandhaven.publicUrl" . | quote }}
{{- with .Values.network.previewUrl }}
- name: SANDHAVEN_PREVIEW_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.network.sshPublic }}
- name: SANDHAVEN_SSH_PUBLIC
  value: {{ . | quote }}
{{- end }}
{{- with .Values.network.trustedProxies }}
- name: SANDHAVEN_TRUSTED_PROXY
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.adminsReadInside }}
- name: SANDHAVEN_ADMINS_READ_INSIDE
  value: "yes"
{{- end }}
{{- if .Values.publicPorts }}
- name: SANDHAVEN_PUBLIC_PORTS
  value: "yes"
{{- end }}
{{- with .Values.webhookAllow }}
- name: SANDHAVEN_WEBHOOK_ALLOW
  value: {{ join "," . | quote }}
{{- end }}
# Below the volume, since a volume's own folder can be entered by its group.
- name: SANDHAVEN_DATA_DIR
  value: /var/lib/sandhaven/data
# Folder of the installation's secret key, by systemd's name for it.
- name: CREDENTIALS_DIRECTORY
  value: /run/sandhaven/credentials
- name: SANDBOX_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ include "sandhaven.apiKeySecret" . }}
      key: {{ .Values.apiKey.key }}
{{ include "sandhaven.runtimeEnv" . }}
{{ include "sandhaven.storageEnv" . }}
{{- if .Values.oidc.issuer }}
{{ include "sandhaven.oidcEnv" . }}
{{- end }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: SANDHAVEN_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
{{- if .existingSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .headersKey }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The engine that makes sandboxes of Pods. */}}
{{- define "sandhaven.runtimeEnv" -}}
- name: SANDHAVEN_RUNTIME
  value: kubernetes
- name: SANDHAVEN_NAMESPACE
  value: {{ include "sandhaven.sandboxesNamespace" . }}
- name: SANDHAVEN_AGENT_IMAGE
  value: {{ required "images.agent is missing: push it with `sandhaven images push`" .Values.images.agent | quote }}
- name: SANDHAVEN_BASE_IMAGE
  value: {{ required "images.base is missing: push it with `sandhaven images push`" .Values.images.base | quote }}
{{- with .Values.sandboxes.storageClass }}
- name: SANDHAVEN_STORAGE_CLASS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.sandboxes.runtimeClass }}
- name: SANDHAVEN_RUNTIME_CLASS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.sandboxes.clusterNetworks }}
- name: SANDHAVEN_CLUSTER_NETWORKS
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{- define "sandhaven.storageEnv" -}}
- name: SANDHAVEN_STORE
  value: {{ required "store.url is missing: postgres://user@host/name" .Values.store.url | quote }}
{{- if .Values.store.existingSecret }}
- name: PGPASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.existingSecret }}
      key: {{ .Values.store.passwordKey }}
{{- end }}
{{- with .Values.archives }}
- name: SANDHAVEN_ARCHIVE_STORE
  value: {{ .store | quote }}
{{- if .encryption }}
- name: SANDHAVEN_ARCHIVE_ENCRYPTION
  value: "yes"
{{- end }}
{{- if .endpoint }}
- name: SANDHAVEN_S3_ENDPOINT
  value: {{ .endpoint | quote }}
{{- end }}
{{- if .region }}
- name: SANDHAVEN_S3_REGION
  value: {{ .region | quote }}
{{- end }}
{{- if .pathStyle }}
- name: SANDHAVEN_S3_PATH_STYLE
  value: {{ .pathStyle | quote }}
{{- end }}
{{- if .existingSecret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .accessKeyIdKey }}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .secretAccessKeyKey }}
{{- end }}
{{- end }}
{{- end }}

{{/* The team's identity provider. Its secret is a file, which no child process inherits. */}}
{{- define "sandhaven.oidcEnv" -}}
{{- $_ := required "network.publicUrl is missing: the identity provider sends browsers back to it" .Values.network.publicUrl }}
{{- with .Values.oidc -}}
- name: SANDHAVEN_OIDC_ISSUER
  value: {{ .issuer | quote }}
- name: SANDHAVEN_OIDC_CLIENT_ID
  value: {{ .clientId | quote }}
- name: SANDHAVEN_OIDC_CLIENT_SECRET_FILE
  value: /run/sandhaven/oidc/client-secret
{{- if .name }}
- name: SANDHAVEN_OIDC_NAME
  value: {{ .name | quote }}
{{- end }}
{{- if .scopes }}
- name: SANDHAVEN_OIDC_SCOPES
  value: {{ join "," .scopes | quote }}
{{- end }}
{{- if .groupsClaim }}
- name: SANDHAVEN_OIDC_GROUPS_CLAIM
  value: {{ .groupsClaim | quote }}
{{- end }}
{{- if .adminGroups }}
- name: SANDHAVEN_OIDC_ADMIN_GROUPS
  value: {{ join "," .adminGroups | quote }}
{{- end }}
{{- if .memberGroups }}
- name: SANDHAVEN_OIDC_MEMBER_GROUPS
  value: {{ join "," .memberGroups | quote }}
{{- end }}
{{- if .emailDomains }}
- name: SANDHAVEN_OIDC_EMAIL_DOMAINS
  value: {{ join "," .emailDomains | quote }}
{{- end }}
{{- end }}
{{- end }}
