#if os(Linux)
import Foundation
import SignetNetwork
import SignetTesting

/// Django OAuth Toolkit, an OpenID provider in Python that follows the specifications closely: refresh tokens are used once, and
/// PKCE is required.
///
/// `scripts/setup` installs it in a separate virtual environment.
package enum DjangoProvider {
    /// A Boolean value that indicates whether the provider is installed.
    package static var isPossible: Bool {
        let folder = FileManager.default.enumerator(atPath: "\(home)/lib")
        let isInstalled = folder?.contains { ($0 as? String)?.hasSuffix("/oauth2_provider/__init__.py") ?? false } ?? false
        return isInstalled && Programs.missing(["openssl"]).isEmpty
    }

    private static var home: String { Programs.installed("oidc") }

    /// Runs `body` with a new provider and ends the provider afterwards.
    ///
    /// Creating it takes some seconds.
    /// - Throws: ``OpenIDProvider/Unavailable``, or the error of `body`.
    package static func with<R>(_ body: (OpenIDProvider) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let (port, redirectPort) = (try ReservedPort(), try ReservedPort())
            let redirectURI = "http://127.0.0.1:\(redirectPort.number)/cb"
            try Data(settings(directory).utf8).write(to: URL(filePath: directory.file("signet_provider.py")))
            try await run("openssl", ["genrsa", "-out", directory.file("oidc.key"), "2048"], directory)
            try await python(directory, "migrate", "-v0")
            try await python(directory, "createsuperuser", "--noinput", "--username", "alice", "--email", "alice@example.test")
            try await python(
                directory, "createapplication", "public", "authorization-code", "--client-id", "app", "--redirect-uris",
                redirectURI, "--post-logout-redirect-uris", "\(redirectURI)/bye", "--algorithm", "RS256",
                "--skip-authorization", "--name", "app")
            let url = "http://localhost:\(port.number)"
            let server = try TestProcess.kept(
                "\(home)/bin/python3", ["-m", "django", "runserver", "--noreload", "127.0.0.1:\(port.number)"],
                environment: environment(directory))
            return try await OpenIDProvider.running(server, at: "\(url)/o/.well-known/openid-configuration") {
                try await body(
                    OpenIDProvider(
                        url: url, issuer: "\(url)/o", cookieName: "sessionid", session: try await logIn(url),
                        redirectURI: redirectURI, signOutRedirectURI: "\(redirectURI)/bye", ports: [port, redirectPort]))
            }
        }
    }

    private static func python(_ directory: TemporaryDirectory, _ arguments: String...) async throws {
        try await run("\(home)/bin/python3", ["-m", "django"] + arguments, directory)
    }

    private static func run(_ program: String, _ arguments: [String], _ directory: TemporaryDirectory) async throws {
        let ended = try await TestProcess.run(
            program, arguments, environment: environment(directory))
        guard ended.status == 0 else {
            throw OpenIDProvider.Unavailable(description: "\(arguments.joined(separator: " ")): \(ended.output)\(ended.errors)")
        }
    }

    private static func environment(_ directory: TemporaryDirectory) -> [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "PYTHONPATH": directory.path,
            "PYTHONDONTWRITEBYTECODE": "1", "DJANGO_SETTINGS_MODULE": "signet_provider", "DJANGO_SUPERUSER_PASSWORD": "alicepw1",
        ]
    }

    /// Returns a Python module with the settings and the URL patterns.
    private static func settings(_ directory: TemporaryDirectory) -> String {
        """
        import sys
        SECRET_KEY = 'a key of a test'
        DEBUG = False
        ALLOWED_HOSTS = ['*']
        USE_TZ = True
        ROOT_URLCONF = __name__
        LOGIN_URL = '/login/'
        DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
        INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions',
                          'django.contrib.messages', 'django.contrib.admin', 'oauth2_provider']
        MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.csrf.CsrfViewMiddleware',
                      'django.contrib.auth.middleware.AuthenticationMiddleware',
                      'django.contrib.messages.middleware.MessageMiddleware']
        TEMPLATES = [{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {
            'context_processors': ['django.template.context_processors.request', 'django.contrib.auth.context_processors.auth',
                                   'django.contrib.messages.context_processors.messages']}}]
        DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': '\(directory.file("provider.sqlite"))',
                                 'OPTIONS': {'timeout': 30}}}
        STATIC_URL = '/static/'
        OAUTH2_PROVIDER = {'OIDC_ENABLED': True, 'OIDC_RSA_PRIVATE_KEY': open('\(directory.file("oidc.key"))').read(),
                           'PKCE_REQUIRED': True, 'SCOPES': {'openid': 'openid', 'read': 'read'},
                           'OIDC_RP_INITIATED_LOGOUT_ENABLED': True, 'OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT': False,
                           'REFRESH_TOKEN_REUSE_PROTECTION': True}
        class Addresses:
            def __iter__(self):
                from django.contrib import admin
                from django.urls import include, path
                return iter([path('login/', admin.site.login), path('admin/', admin.site.urls),
                             path('o/', include('oauth2_provider.urls', namespace='oauth2_provider'))])
            def __reversed__(self):
                return reversed(list(iter(self)))
            def __len__(self):
                return 3
        urlpatterns = Addresses()

        """
    }

    /// Submits the login form as a browser does, and returns the session cookie.
    private static func logIn(_ url: String) async throws -> String {
        try await AsyncHTTPTransport().use { transport in
            let form = try await transport.send(HTTPRequest("GET", "\(url)/login/"))
            let token = OpenIDProvider.cookie("csrftoken", in: form) ?? ""
            let fields = "username=alice&password=alicepw1&next=/o/&csrfmiddlewaretoken=\(token)"
            let response = try await transport.send(
                HTTPRequest(
                    "POST", "\(url)/login/",
                    headers: [
                        "Cookie": "csrftoken=\(token)", "Content-Type": "application/x-www-form-urlencoded",
                        "Referer": "\(url)/login/",
                    ], body: Array(fields.utf8)))
            guard response.status == 302, let session = OpenIDProvider.cookie("sessionid", in: response) else {
                throw OpenIDProvider.Unavailable(description: "the login answered \(response.status)")
            }
            return session
        }
    }
}
#endif
