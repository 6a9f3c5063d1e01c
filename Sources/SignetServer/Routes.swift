import HTTPTypes
import Hummingbird
import SignetCore

/// An address of the server that has a name.
///
/// The request log, faults and metrics use the name, so it never contains a realm, a user or a token.
///
/// ``Route/pattern`` has the paths, and ``ServerContext/responder`` maps each path to its handlers.
enum Route: String, CaseIterable, Sendable {
    case authenticate
    case sessions
    case session
    case serverInfo
    case secondFactorDevices
    case secondFactorDevice
    case profileDevices
    case profileDevice
    case pushDevices
    case pushDevice
    case pushMessage
    case pushStream
    /// The actions of the users resource; after the addresses whose last segment is any text.
    case users
    case authorize
    case accessToken
    case revocation
    case introspection
    case userInfo
    case endSession
    case keys
    case discovery
    case authorizationServer
    case deviceCode
    case deviceUser
    /// Pushed authorization requests (RFC 9126).
    case pushedAuthorization
    /// Requests for the approval of a user on a device of theirs (CIBA).
    case backchannelAuthorization
    /// The login pages, below `/XUI`.
    case pages
    case health
    /// The push gateway, which has its own path outside of the context path.
    case gateway

    /// A group of addresses that share the format of their errors.
    enum Family: Sendable {
        case json
        /// AM's configuration REST, below `/json`.
        case configuration
        case oauth2
        case pages
        case console
        case admin
        case health
        case gateway
        /// Every other address.
        case none

        /// The prefix of the family's paths; empty when the paths have no common prefix.
        var prefix: String {
            switch self {
            case .json, .configuration: "/json"
            case .oauth2: "/oauth2"
            case .pages: "/XUI"
            case .console: "/console"
            case .admin: "/admin"
            case .health: "/health"
            case .gateway: "/push-gateway"
            case .none: ""
            }
        }
    }

    /// The router's path of the redirect to the login page, without its slash.
    ///
    /// No request has this path: ``RealmResponder`` sends browsers there that open the server's address without a page.
    static let entry = "entry"
    /// The router's path of AM's configuration REST, without its slash (``ConfigurationAddress``).
    static let configuration = "configuration"

    /// AM's resources: the routes that a realm can be part of.
    static let resources = allCases.filter { $0.family == .json || $0.family == .oauth2 }

    var family: Family {
        switch self {
        case .authenticate, .sessions, .session, .serverInfo, .users, .secondFactorDevices, .secondFactorDevice,
            .profileDevices, .profileDevice, .pushDevices, .pushDevice, .pushMessage, .pushStream:
            .json
        case .authorize, .accessToken, .revocation, .introspection, .userInfo, .endSession, .keys, .discovery,
            .authorizationServer, .deviceCode, .deviceUser, .pushedAuthorization, .backchannelAuthorization:
            .oauth2
        case .pages: .pages
        case .health: .health
        case .gateway: .gateway
        }
    }

    /// The path segments after the family's prefix.
    ///
    /// A segment with a colon is a parameter, which matches any one segment.
    var pattern: [String] { Self.patterns[self] ?? [] }

    /// The patterns, which each request is compared with.
    private static let patterns = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.steps) })

    private var steps: [String] {
        switch self {
        case .authenticate: ["authenticate"]
        case .sessions: ["sessions"]
        case .session: ["sessions", ":token"]
        case .serverInfo: ["serverinfo", ":item"]
        case .users: ["users"]
        case .secondFactorDevices: ["users", ":user", "devices", "2fa", ":kind"]
        case .secondFactorDevice: ["users", ":user", "devices", "2fa", ":kind", ":id"]
        case .profileDevices: ["users", ":user", "devices", "profile"]
        case .profileDevice: ["users", ":user", "devices", "profile", ":id"]
        case .pushDevices: ["users", ":user", "devices", "push"]
        case .pushDevice: ["users", ":user", "devices", "push", ":id"]
        case .pushMessage: ["push", "sns", "message"]
        case .pushStream: ["push", "stream"]
        case .authorize: ["authorize"]
        case .accessToken: ["access_token"]
        case .revocation: ["token", "revoke"]
        case .introspection: ["introspect"]
        case .userInfo: ["userinfo"]
        case .endSession: ["connect", "endSession"]
        case .keys: ["connect", "jwk_uri"]
        case .discovery: [".well-known", "openid-configuration"]
        case .authorizationServer: [".well-known", "oauth-authorization-server"]
        case .deviceCode: ["device", "code"]
        case .deviceUser: ["device", "user"]
        case .pushedAuthorization: ["par"]
        case .backchannelAuthorization: ["bc-authorize"]
        case .pages, .health, .gateway: []
        }
    }

    /// The number of parameters in ``pattern``.
    var parameterCount: Int { pattern.count(where: Self.isParameter) }

    /// The path for the router, without a realm.
    var routerPath: RouterPath { RouterPath(family.prefix + pattern.map { "/\($0)" }.joined()) }

    /// The path with `*` in place of each parameter.
    ///
    /// It is a label of metrics and the name of spans.
    var label: String { Self.labels[self] ?? "" }

    private static let labels = Dictionary(
        uniqueKeysWithValues: allCases.map { route in
            let steps = route.pattern.map { isParameter($0) ? "/*" : "/\($0)" }
            return (route, route == .gateway ? "push gateway" : route.family.prefix + steps.joined())
        })

    static func isParameter(_ step: String) -> Bool { step.hasPrefix(":") }

    /// Returns the first resource of a family whose pattern is the end of a path.
    /// - Parameters:
    ///   - family: The prefix of the family, without its slash.
    ///   - segments: The segments of the path after the prefix.
    /// - Returns: The resource; nil for an unknown one.
    static func resource(below family: String, _ segments: ArraySlice<String>) -> Route? {
        resourcePatterns.first { $0.prefix == family && $0.matches(segments) }?.route
    }

    /// The pattern of a resource, with what the search for a resource needs.
    private struct ResourcePattern: Sendable {
        let route: Route
        /// The prefix of the family, without its slash.
        let prefix: String
        /// The segments; nil for a parameter.
        let steps: [String?]

        func matches(_ segments: ArraySlice<String>) -> Bool {
            guard segments.count >= steps.count else { return false }
            return zip(steps, segments.suffix(steps.count)).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private static let resourcePatterns = resources.map { route in
        ResourcePattern(
            route: route, prefix: String(route.family.prefix.dropFirst()),
            steps: route.pattern.map { isParameter($0) ? nil : $0 })
    }
}

/// A function of a controller that answers the requests of one method to one address.
typealias RouteHandler = @Sendable (Request, AppRequestContext) async throws -> Response

extension ServerContext {
    /// The responder of the server, with every address.
    ///
    /// A realm can be part of every path below `/json` and `/oauth2`; ``RealmResponder`` takes it out of the path, and the
    /// context path too.
    var responder: some HTTPResponder<AppRequestContext> {
        let router = Router(context: AppRequestContext.self)
        router.addMiddleware {
            RequestLogMiddleware(server: self)
            TelemetryMiddleware(telemetry: telemetry)
            ResponseHeadMiddleware(server: self)
            CrossOriginMiddleware(configuration: configuration)
            LanguageMiddleware(server: self)
            ErrorMiddleware(server: self)
            HostMiddleware(policy: HostPolicy(configuration))
            OriginMiddleware(server: self)
            RateLimitMiddleware(server: self)
            FaultMiddleware(server: self)
        }
        let am = router.group().add(middleware: RealmMiddleware(realms: realms))
        addJSON(to: am.group().add(middleware: ErrorMiddleware(server: self, isVersioned: true)))
        addOAuth(to: am)
        let rest = ConfigurationController(server: self)
        let documents = am.group().add(middleware: ErrorMiddleware(server: self, isVersioned: true))
        for method in HTTPRequest.Method.known {
            documents.on(RouterPath(Route.configuration), method: method, use: rest.respond)
        }
        addHealth(to: router.group("health"))
        router.add(RouterPath(Route.entry), [.get: LoginController(server: self).enter])
        addPages(to: router.group("XUI"))
        addConsole(to: router.group("console").add(middleware: LoopbackMiddleware(server: self)))
        addAdmin(
            to: router.group("console/admin").add(middleware: LoopbackMiddleware(server: self))
                .add(middleware: ConsoleAccessMiddleware(server: self)))
        addAdmin(to: router.group("admin").add(middleware: AdminAccessMiddleware(server: self)))
        if let gateway {
            let controller = PushGatewayController(server: self, gateway: gateway)
            router.add(.gateway, [.get: controller.inbox, .post: controller.query])
        }
        return RealmResponder(
            contextPath: contextPath, gateway: configuration.pushGateway, maxBodySize: configuration.maxBodySize,
            hasConfiguration: { [holder] in holder.current.hasConfigurationREST }, next: router.buildResponder())
    }

    private func addJSON(to group: RouterGroup<AppRequestContext>) {
        group.add(.authenticate, [.post: AuthenticateController(server: self).authenticate])
        let sessions = SessionsController(server: self)
        group.add(.sessions, [.post: sessions.act])
        group.add(.session, [.post: sessions.act])
        group.add(.serverInfo, [.get: ServerInfoController(server: self).info])
        group.add(.users, [.post: UsersController(server: self).act])
        group.add(.pushMessage, [.post: PushMessageController(server: self).message])
        group.add(.pushStream, [.get: PushStreamController(server: self).stream])
        let (devices, owned) = (
            UserDevicesController(server: self), group.group().add(middleware: DeviceOwnerMiddleware(server: self))
        )
        owned.add(.secondFactorDevices, [.get: devices.list, .post: devices.act])
        for route in [Route.profileDevices, .pushDevices] { owned.add(route, [.get: devices.list]) }
        for route in [Route.secondFactorDevice, .profileDevice] {
            owned.add(route, [.get: devices.get, .delete: devices.delete, .put: devices.rename])
        }
        owned.add(.pushDevice, [.get: devices.notReadable, .delete: devices.delete])
    }

    private func addOAuth(to group: RouterGroup<AppRequestContext>) {
        let authorize = AuthorizeController(server: self)
        group.add(.authorize, [.get: authorize.authorize, .post: authorize.authorize])
        group.add(.accessToken, [.post: TokenController(server: self).token])
        group.add(.revocation, [.post: RevocationController(server: self).revoke])
        group.add(.introspection, [.post: IntrospectionController(server: self).introspect])
        let user = UserInfoController(server: self)
        group.add(.userInfo, [.get: user.userInfo, .post: user.userInfo])
        let session = EndSessionController(server: self)
        group.add(.endSession, [.get: session.endSession, .post: session.endSession])
        let discovery = DiscoveryController(server: self)
        group.add(.discovery, [.get: discovery.discovery])
        group.add(.authorizationServer, [.get: discovery.discovery])
        group.add(.keys, [.get: discovery.keys])
        group.add(.deviceCode, [.post: DeviceCodeController(server: self).deviceCode])
        let device = DeviceUserController(server: self)
        group.add(.deviceUser, [.get: device.deviceUser, .post: device.deviceUser])
        group.add(.pushedAuthorization, [.post: PushedAuthorizationController(server: self).push])
        group.add(.backchannelAuthorization, [.post: BackchannelController(server: self).authorize])
    }

    private func addHealth(to group: RouterGroup<AppRequestContext>) {
        let health = HealthController(server: self)
        for path in ["", "live"] { group.add(RouterPath(path), [.get: health.live, .head: health.live]) }
        group.add("ready", [.get: health.ready, .head: health.ready])
    }

    private func addPages(to group: RouterGroup<AppRequestContext>) {
        let pages = LoginController(server: self)
        group.add("", [.get: pages.page, .post: pages.take])
        group.add("wait", [.get: pages.wait])
        let picker = UserPickerController(server: self)
        group.add("users", [.get: picker.show, .post: picker.choose])
        group.add("colors.css", [.get: pages.colors])
        let session = SessionPageController(server: self)
        group.add("session", [.get: session.show])
        group.add("logout", [.post: session.logOut])
        for asset in PageAsset.ofPages { group.add(RouterPath(asset.rawValue), [.get: { _, _ in asset.response }]) }
    }

    private func addConsole(to group: RouterGroup<AppRequestContext>) {
        let console = ConsoleController(server: self)
        group.add("", [.get: console.show])
        group.add("open", [.get: console.open])
        for asset in PageAsset.ofConsole { group.add(RouterPath("assets/\(asset.rawValue)"), [.get: { _, _ in asset.response }]) }
        let own = group.group().add(middleware: ConsoleAccessMiddleware(server: self))
        own.add("link", [.post: console.link])
        own.add("email/:id", [.get: console.email])
    }

    /// Adds the administration API, for programs with its token and for the console.
    func addAdmin(to group: RouterGroup<AppRequestContext>) {
        let group = group.group().add(middleware: ConditionalMiddleware())
        let admin = AdminController(server: self)
        group.add("", [.get: admin.overview])
        group.add("clock", [.get: admin.clock, .put: admin.setClock, .delete: admin.changeClock(.reset)])
        group.add("clock/advance", [.post: admin.advanceClock])
        group.add("clock/resume", [.post: admin.changeClock(.resume)])
        group.add("faults", [.get: admin.faults, .post: admin.enableFault, .delete: admin.disableFaults])
        group.add("faults/:name", [.delete: admin.disableFault])
        group.add("request-log", [.get: admin.requestLog, .delete: admin.clearRequestLog])
        group.add("sessions", [.get: admin.sessions, .post: admin.openSession, .delete: admin.endSessions])
        group.add("sessions/:key", [.delete: admin.endSession])
        group.add("users", [.get: admin.users, .post: admin.addUser])
        group.add("users/:user", [.get: admin.user, .patch: admin.changeUser])
        group.add("users/:user/devices", [.delete: admin.removeDevices])
        group.add("users/:user/devices/:kind/:id", [.delete: admin.removeDevice])
        group.add("logins", [.get: admin.logins, .delete: admin.clearLogins])
        group.add("logins/:number", [.get: admin.login])
        group.add("tokens", [.get: admin.tokens, .post: admin.issueToken])
        group.add("tokens/:grant", [.delete: admin.revokeTokens])
        group.add("keys", [.get: admin.keys, .post: admin.rotateKeys])
        group.add("clients", [.get: admin.clients])
        group.add("clients/:client", [.get: admin.client, .put: admin.putClient, .delete: admin.deleteClient])
        group.add("journeys", [.get: admin.journeys])
        group.add("journeys/:journey", [.get: admin.journey, .put: admin.putJourney, .delete: admin.deleteJourney])
        group.add("journeys/:journey/graph", [.get: admin.journeyGraph])
        group.add("metrics", [.get: admin.metrics])
        group.add("openapi.json", [.get: admin.openAPI])
        group.add("emails", [.get: admin.emails, .delete: admin.deleteEmails])
        group.add("emails/:id", [.get: admin.email, .delete: admin.deleteEmail])
        group.add("pushes", [.get: admin.pushes])
        group.add("pushes/:id/answer", [.post: admin.answerPush])
        group.add("snapshot", [.get: admin.snapshot, .put: admin.restore])
        group.add("reset", [.post: admin.reset])
        // Only a client with the token learns which addresses exist.
        for method in HTTPRequest.Method.known {
            group.on("**", method: method) { _, _ -> Response in throw HTTPError(.notFound) }
        }
    }
}

extension RouterMethods<AppRequestContext> {
    /// Adds the handlers of a named route.
    func add(_ route: Route, _ handlers: KeyValuePairs<HTTPRequest.Method, RouteHandler>) { add(route.routerPath, handlers) }

    /// Adds the handlers of an address.
    ///
    /// A request with another method gets a 405 response that lists the methods.
    func add(_ path: RouterPath, _ handlers: KeyValuePairs<HTTPRequest.Method, RouteHandler>) {
        let methods = handlers.map(\.key)
        for (method, handler) in handlers { on(path, method: method, use: handler) }
        for method in HTTPRequest.Method.known where !methods.contains(method) {
            on(path, method: method) { _, _ -> Response in throw APIError.methodNotAllowed(methods) }
        }
    }
}

/// Rejects requests for AM's resources in a realm that doesn't exist.
struct RealmMiddleware: RouterMiddleware {
    let realms: Set<RealmPath>

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        guard realms.contains(context.realm) else { throw APIError.unknownRealm(context.realm) }
        return try await next(request, context)
    }
}
