{{/* Names and labels of the release's objects. */}}

{{- define "sandhaven.name" -}}
{{- if contains "sandhaven" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-sandhaven" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sandhaven.selector" -}}
app.kubernetes.io/name: sandhaven
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sandhaven.labels" -}}
{{ include "sandhaven.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "sandhaven.sandboxesNamespace" -}}
{{- $name := .Values.sandboxes.namespace | default (printf "%s-sandboxes" .Release.Namespace) }}
{{- if eq $name .Release.Namespace }}{{ fail "sandboxes.namespace must be another namespace than the release's: whoever may make Pods there could read the service's Secrets" }}{{ end }}
{{- $name }}
{{- end }}

{{- define "sandhaven.secretKeySecret" -}}
{{ .Values.secretKey.existingSecret | default (printf "%s-secret-key" (include "sandhaven.name" .)) }}
{{- end }}

{{- define "sandhaven.apiKeySecret" -}}
{{ .Values.apiKey.existingSecret | default (printf "%s-api-key" (include "sandhaven.name" .)) }}
{{- end }}

{{- define "sandhaven.publicUrl" -}}
{{ .Values.network.publicUrl | default (printf "http://%s.%s.svc:7420" (include "sandhaven.name" .) .Release.Namespace) }}
{{- end }}

{{/* Name of the variable that Kubernetes sets to the address of the API's Service. */}}
{{- define "sandhaven.addressVariable" -}}
{{ include "sandhaven.name" . | upper | replace "-" "_" }}_SERVICE_HOST
{{- end }}

{{- define "sandhaven.probe" -}}
httpGet:
  path: {{ . }}
  port: api
  httpHeaders:
    - name: Host
      value: localhost
{{- end }}
