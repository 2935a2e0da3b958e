package deploy

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// environment is that of a container. The downward API gives pod, and a secret the DSN. What a
// ConfigMap gives is in [recipe.given].
func environment(t *testing.T, c corev1.Container, pod map[string]string) map[string]string {
	t.Helper()
	env, hasDSN := map[string]string{}, false
	for _, v := range c.Env {
		switch from := v.ValueFrom; {
		case from == nil:
			env[v.Name] = v.Value
		case from.FieldRef != nil:
			value, ok := pod[from.FieldRef.FieldPath]
			if !ok {
				t.Fatalf("pods have no %s", from.FieldRef.FieldPath)
			}
			env[v.Name] = value
		case from.SecretKeyRef != nil && v.Name == "IDMINT_DB": // the stage's
			hasDSN = true
		case from.ConfigMapKeyRef != nil:
		default:
			t.Fatalf("%+v", v)
		}
	}
	if !hasDSN {
		t.Errorf("container %s has no IDMINT_DB", c.Name)
	}
	return env
}

// scriptOf is the script of a container that a shell runs. Both mounts are the same volume, so that
// the app reads what was written.
func scriptOf(t *testing.T, c corev1.Container) string {
	t.Helper()
	if len(c.Command) != 3 || c.Command[0] != "sh" || c.Command[1] != "-ec" || len(c.Args) > 0 {
		t.Fatalf("the command is %q", c.Command)
	}
	return c.Command[2]
}

// checkMounts wants each volume that is mounted to be there.
func checkMounts(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, m := range c.VolumeMounts {
			if m.MountPath != "/launch" || len(pod.Volumes) != 1 || pod.Volumes[0].Name != m.Name {
				t.Errorf("container %s mounts %+v", c.Name, m)
			}
		}
	}
}

// checkRights wants a pod that has no right but those that it needs, and no secret in an argument.
func checkRights(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	context, token := pod.SecurityContext, pod.AutomountServiceAccountToken
	if context == nil || context.RunAsNonRoot == nil || !*context.RunAsNonRoot ||
		context.RunAsUser == nil || *context.RunAsUser == 0 || context.SeccompProfile == nil ||
		context.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
		pod.ServiceAccountName == "" && (token == nil || *token) {
		t.Errorf("a pod: %+v, token %v", context, token)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		rights := c.SecurityContext
		if rights == nil || rights.AllowPrivilegeEscalation == nil ||
			*rights.AllowPrivilegeEscalation || rights.ReadOnlyRootFilesystem == nil ||
			!*rights.ReadOnlyRootFilesystem || rights.Capabilities == nil ||
			!slices.Equal(rights.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("container %s: %+v", c.Name, rights)
		}
		for _, text := range slices.Concat(c.Command, c.Args) {
			if strings.Contains(text, "IDMINT_DB") || strings.Contains(text, "--db") {
				t.Errorf("container %s has the DSN, a secret, in %q", c.Name, text)
			}
		}
	}
}

// TestKubernetesDeployment: the pods of a ReplicaSet are one launch, which the first of them
// starts. Another service, and the same one elsewhere, have others, though the hash is the same.
func TestKubernetesDeployment(t *testing.T) {
	t.Parallel()
	s := newStage(t, recipe{})
	const first, next = "75675f5897", "6b474476c4"
	for i, pod := range []struct {
		place
		hash, launch string
	}{
		{shop, first, "1"},
		{shop, first, "1"},
		{place{"blog", shop.env}, first, "2"},
		{place{shop.service, "staging"}, first, "3"},
		{shop, next, "4"},
		{shop, first, "1"},
	} {
		var d appsv1.Deployment
		strict(t, pod.read(t, "kubernetes/deployment.yaml"), &d)
		containers := d.Spec.Template.Spec.Containers
		if d.APIVersion != "apps/v1" || d.Kind != "Deployment" || len(containers) != 1 {
			t.Fatalf("%+v", d)
		}
		checkRights(t, d.Spec.Template.Spec)
		s.addApp(pod.place)
		got, err := s.run("exec "+pod.service, environment(t, containers[0],
			map[string]string{"metadata.labels['pod-template-hash']": pod.hash}))
		if err != nil || got != pod.launch {
			t.Errorf("pod %d has launch %q, %v, want %s", i, got, err, pod.launch)
		}
	}
	if got := strings.Join(s.running(), " "); got != "4 3 2 1" {
		t.Errorf("launches %s run", got)
	}
}

func kubernetesCronJob(t *testing.T, p place) recipe {
	var c batchv1.CronJob
	strict(t, p.read(t, "kubernetes/cronjob.yaml"), &c)
	if c.APIVersion != "batch/v1" || c.Kind != "CronJob" ||
		c.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
		t.Errorf("%+v", c)
	}
	pod := c.Spec.JobTemplate.Spec.Template.Spec
	checkMounts(t, pod)
	checkRights(t, pod)
	env := func(uid string) map[string]string {
		return environment(t, pod.InitContainers[0], map[string]string{
			"metadata.labels['" + batchv1.ControllerUidLabel + "']": uid,
		})
	}
	const uid = "a8f3d00d-c6d2-11e5-9f87-42010af00002"
	return recipe{
		start: scriptOf(t, pod.InitContainers[0]), app: scriptOf(t, pod.Containers[0]),
		own: environment(t, pod.Containers[0], nil), service: p.service + "-billing",
		first: env(uid), again: env(uid), next: env("b" + uid[1:]),
		keeps: true, // the pod of a Job that runs beside another one may be tried again
	}
}

// hooks are two Jobs, before and after. The first one writes a ConfigMap, and the app takes its
// number from there.
func hooks(t *testing.T, p place, text []byte, key, before, after string) (
	r recipe, env func(pod map[string]string) map[string]string,
) {
	t.Helper()
	documents := bytes.Split(text, []byte("\n---\n"))
	if len(documents) != 2 {
		t.Fatalf("%d documents", len(documents))
	}
	var jobs [2]batchv1.Job
	for i, document := range documents {
		strict(t, document, &jobs[i])
		want := []string{before, after}[i]
		if jobs[i].APIVersion != "batch/v1" || jobs[i].Kind != "Job" ||
			jobs[i].Annotations[key] != want {
			t.Errorf("%+v, want %s", jobs[i].ObjectMeta, want)
		}
	}
	start, finish := jobs[0].Spec.Template.Spec, jobs[1].Spec.Template.Spec
	checkMounts(t, start)
	access(t, p, start)
	var app appsv1.Deployment
	strict(t, p.read(t, "kubernetes/configmap-pods.yaml"), &app)
	for _, pod := range []corev1.PodSpec{start, finish, app.Spec.Template.Spec} {
		checkRights(t, pod)
	}
	r = recipe{
		start: scriptOf(t, start.InitContainers[0]), finish: scriptOf(t, finish.Containers[0]),
		app: "exec " + p.service, own: environment(t, app.Spec.Template.Spec.Containers[0], nil),
		given: func(t *testing.T, dir string) map[string]string {
			t.Helper()
			var c corev1.ConfigMap
			strict(t, read(t, filepath.Join(dir, "configmap.yaml")), &c)
			env := map[string]string{}
			for _, v := range app.Spec.Template.Spec.Containers[0].Env {
				if v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil {
					ref := v.ValueFrom.ConfigMapKeyRef
					if c.Kind != "ConfigMap" || c.APIVersion != "v1" || c.Name != ref.Name {
						t.Fatalf("%+v", c)
					}
					env[v.Name] = c.Data[ref.Key]
				}
			}
			return env
		},
	}
	env = func(pod map[string]string) map[string]string {
		first := environment(t, start.InitContainers[0], pod)
		if last := environment(t, finish.Containers[0], pod); !maps.Equal(first, last) {
			t.Errorf("the hooks differ: %v, %v", first, last)
		}
		return first
	}
	return r, env
}

// access checks that the Job may write its ConfigMap, and no other one.
func access(t *testing.T, p place, pod corev1.PodSpec) {
	t.Helper()
	documents := bytes.Split(p.read(t, "kubernetes/access.yaml"), []byte("\n---\n"))
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	strict(t, documents[0], &account)
	strict(t, documents[1], &role)
	strict(t, documents[2], &binding)
	if pod.ServiceAccountName != account.Name || binding.Subjects[0].Name != account.Name ||
		binding.Subjects[0].Kind != account.Kind || binding.RoleRef.Name != role.Name ||
		binding.RoleRef.Kind != role.Kind || !slices.Equal(role.Rules[1].Verbs, []string{"get", "patch"}) ||
		!slices.Equal(role.Rules[1].ResourceNames, []string{p.service + "-launch"}) {
		t.Errorf("%+v %+v %+v", account, role, binding)
	}
	kubectl := pod.Containers[0]
	if !slices.Equal(kubectl.Args, []string{"apply", "--filename=/launch/configmap.yaml"}) {
		t.Errorf("kubectl %q", kubectl.Args)
	}
}

// helm renders the template as helm does, as far as the template asks: Go's text/template with
// three functions of sprig.
func helm(t *testing.T, p place) recipe {
	render := func(revision int, now time.Time) []byte {
		parsed, err := template.New("").Funcs(template.FuncMap{
			"now":       func() time.Time { return now },
			"unixEpoch": func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) },
			"quote":     strconv.Quote,
		}).Parse(string(p.read(t, "helm/launch.yaml")))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err = parsed.Execute(&b, map[string]any{
			"Release": map[string]any{"Namespace": "shop", "Name": "shop", "Revision": revision},
			"Values":  map[string]any{"appEnv": p.env},
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const key, before, after = "helm.sh/hook", "pre-install,pre-upgrade", "post-install,post-upgrade"
	at := time.Unix(1_760_000_000, 0)
	r, env := hooks(t, p, render(1, at), key, before, after)
	r.first, r.again = env(nil), env(nil)
	_, env = hooks(t, p, render(1, at.Add(time.Hour)), key, before, after) // installed anew
	r.next = env(nil)
	_, env = hooks(t, p, render(2, at), key, before, after)
	if upgraded := env(nil); upgraded["RUN"] == r.first["RUN"] || upgraded["RUN"] == r.next["RUN"] {
		t.Errorf("the key of an upgrade ends with %s", upgraded["RUN"])
	}
	return r
}

func argoCD(t *testing.T, p place) recipe {
	// The keys are those of Argo CD's Application. Its definition is not among Kubernetes' own.
	var a struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Spec struct {
			Project string `json:"project"`
			Source  struct {
				RepoURL        string `json:"repoURL"`
				TargetRevision string `json:"targetRevision"`
				Path           string `json:"path"`
				Kustomize      struct {
					CommonAnnotationsEnvsubst bool              `json:"commonAnnotationsEnvsubst"`
					CommonAnnotations         map[string]string `json:"commonAnnotations"`
				} `json:"kustomize"`
			} `json:"source"`
			Destination struct {
				Server    string `json:"server"`
				Namespace string `json:"namespace"`
			} `json:"destination"`
			SyncPolicy struct {
				Retry struct {
					Limit int `json:"limit"`
				} `json:"retry"`
			} `json:"syncPolicy"`
		} `json:"spec"`
	}
	strict(t, p.read(t, "argocd/application.yaml"), &a)
	source := a.Spec.Source.Kustomize
	annotations := source.CommonAnnotations
	if !source.CommonAnnotationsEnvsubst || annotations["revision"] != "$ARGOCD_APP_REVISION" {
		t.Errorf("%+v", a)
	}
	r, env := hooks(t, p, p.read(t, "argocd/hooks.yaml"), "argocd.argoproj.io/hook", "PreSync",
		"PostSync")
	pod := func(revision string) map[string]string {
		return map[string]string{
			"metadata.annotations['revision']":    revision,
			"metadata.annotations['environment']": annotations["environment"],
		}
	}
	r.first, r.again = env(pod("ffac537e6cbb")), env(pod("ffac537e6cbb"))
	r.next = env(pod(strings.Repeat("0a", 6)))
	return r
}
