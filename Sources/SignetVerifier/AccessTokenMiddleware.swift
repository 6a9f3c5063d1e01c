import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import SignetCore
import SignetNetwork

/// A middleware that verifies the access token of each request, and refuses requests without a valid one.
///
/// The routes behind it find the token in their context:
///
///     let router = Router(context: BasicAccessTokenRequestContext.self)
///     let orders = router.group("orders").add(middleware: AccessTokenMiddleware(verifier, scopes: ["orders"]))
///     orders.get { _, context in try context.requireAccessToken().subject ?? "" }
public struct AccessTokenMiddleware<Context: AccessTokenRequestContext>: RouterMiddleware {
    private let verifier: AccessTokenVerifier
    private let scopes: Set<String>

    /// Creates a middleware.
    /// - Parameters:
    ///   - verifier: The verifier.
    ///   - scopes: The scopes that the token of each request must have. ``RequiredScopesMiddleware`` requires more for some routes.
    public init(_ verifier: AccessTokenVerifier, scopes: Set<String> = []) {
        self.verifier = verifier
        self.scopes = scopes
    }

    /// Verifies the token of a request, and passes the request on.
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context, which gets the token.
    ///   - next: The next responder.
    /// - Returns: The response of the next responder, or the one to a refused token.
    /// - Throws: The errors of the next responder.
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let received = ResourceRequest(request)
        let token: VerifiedAccessToken
        do throws(AccessTokenError) {
            token = try await verifier.verify(received, requiring: scopes)
        } catch {
            context.logger.debug("\(error)")
            return Response(verifier, error, received, scopes)
        }
        var context = context
        context.accessToken = token
        var response = try await next(request, context)
        if token.keyThumbprint != nil, let nonce = verifier.nextNonce, let name = HTTPField.Name.dpopNonce {
            response.headers[name] = nonce
        }
        return response
    }
}

/// A middleware that requires scopes of the access token that ``AccessTokenMiddleware`` has verified.
public struct RequiredScopesMiddleware<Context: AccessTokenRequestContext>: RouterMiddleware {
    private let verifier: AccessTokenVerifier
    private let scopes: Set<String>

    /// Creates a middleware.
    /// - Parameters:
    ///   - verifier: The verifier of the ``AccessTokenMiddleware``, which makes the responses.
    ///   - scopes: The scopes, all of which the token must have.
    public init(_ verifier: AccessTokenVerifier, _ scopes: Set<String>) {
        self.verifier = verifier
        self.scopes = scopes
    }

    /// Passes a request on if its token has the scopes.
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context with the token.
    ///   - next: The next responder.
    /// - Returns: The response of the next responder, or the one to a token without the scopes.
    /// - Throws: The errors of the next responder.
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do throws(AccessTokenError) {
            guard let token = context.accessToken else { throw AccessTokenError(.missing) }
            try AccessTokenVerifier.check(token, has: scopes)
        } catch {
            return Response(verifier, error, ResourceRequest(request), scopes)
        }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    fileprivate static let dpop = HTTPField.Name(DPoPProof.field)
    fileprivate static let dpopNonce = HTTPField.Name(DPoPProof.nonceField)
}

extension ResourceRequest {
    /// Reads the parts of a request.
    fileprivate init(_ request: Request) {
        self.init(
            method: request.method.rawValue, path: request.uri.path, authorization: request.headers[values: .authorization],
            proofs: HTTPField.Name.dpop.map { request.headers[values: $0] } ?? [])
    }
}

extension Response {
    /// Creates the response to a refused token.
    fileprivate init(
        _ verifier: AccessTokenVerifier, _ error: AccessTokenError, _ request: ResourceRequest, _ scopes: Set<String>
    ) {
        let answer = verifier.response(to: error, for: request, requiring: scopes)
        var headers = HTTPFields()
        for field in answer.headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            headers.append(HTTPField(name: name, value: field.value))
        }
        self.init(
            status: .init(code: answer.status), headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
