import HTTPTypes
import Hummingbird
import SignetCore

/// The next middleware, or the controller, in the chain that answers a request.
typealias NextResponder = @concurrent (Request, AppRequestContext) async throws -> Response

/// The properties of a request that the middleware and the controllers share.
///
/// ``RealmResponder`` fills in the address.
struct AppRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let client: ClientConnection
    /// The details of the request for the request log.
    let log = RequestLogContext()
    /// The method of the request as the client sent it.
    var method = HTTPRequest.Method.get
    /// The path of the request as the client sent it.
    var fullPath = ""
    /// The path below the context path, with the realm; the whole path when it isn't below the context path.
    var path = ""
    var family = Route.Family.none
    /// The named route; nil for an address without a name.
    var route: Route?
    /// The address of a request for AM's configuration REST; nil for other requests.
    var configuration: ConfigurationAddress?
    /// The realm of a request for one of AM's resources.
    var realm = RealmPath.root
    /// The largest body that a handler reads, in bytes.
    var maxUploadSize = 0

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        client = ClientConnection(source.channel)
    }

    /// True for a request to the console or the administration API.
    ///
    /// A tester that reads the request log doesn't need the tester's own requests in it, unless they failed. Faults don't apply
    /// to them, so that a fault can always be disabled.
    var isForTesters: Bool { family == .console || family == .admin }

    /// Returns a parameter of the path, decoded.
    /// - Throws: ``APIError/resourceNotFound`` when its encoding is invalid.
    func parameter(_ name: String) throws(APIError) -> String {
        guard let value = parameters.get(name)?.percentDecoded() else { throw .resourceNotFound }
        return value
    }
}
