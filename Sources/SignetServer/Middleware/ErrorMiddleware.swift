import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import SignetCore
import SignetPushGateway
import SignetStorage

/// Turns errors into responses, in the format of the address: AM's JSON, OAuth 2.0's JSON, a page, or the XML of SNS.
///
/// A browser gets a page when the address or the realm does not exist. The 404 response of a route has the format of the address
/// for every client.
struct ErrorMiddleware: RouterMiddleware {
    let server: ServerContext
    /// True in a group whose resources have versions.
    ///
    /// Their error responses name the newest version.
    var isVersioned = false

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPParserError {
            // The request isn't HTTP: the HTTP layer below answers it.
            throw error
        } catch {
            return try response(to: error, request, context)
        }
    }

    private func response(
        to error: any Error, _ request: Request, _ context: AppRequestContext
    ) throws -> Response {
        if let refusal = error as? OAuthErrorResponse, context.family == .oauth2 {
            server.logger.info(
                "OAuth 2.0 request refused",
                metadata: ["error": "\(refusal.code)", "reason": "\(refusal.reason ?? refusal.message)"])
            context.log.update { $0.problem = refusal.code }
            // Programs request endSession too, and only browsers request authorize.
            let isForBrowser = context.route == .authorize || (context.route == .endSession && request.acceptsHTML)
            if isForBrowser, server.configuration.authorizeErrors == .page {
                return server.inLanguage(for: refusal.uiLocales) {
                    HTMLPage.authorizationError(refusal, in: context.realm, baseURL: server.baseURL).response(at: server)
                }
            }
            return try refusal.response
        }
        let refusal = apiError(error, context)
        if refusal.status == .contentTooLarge { server.telemetry.count([.refused(.bodyTooLarge)]) }
        context.log.update { $0.problem = refusal.message }
        if refusal.status == .notFound, isAboutAddress(error, context), request.acceptsHTML,
            server.configuration.authorizeErrors == .page, ![.pages, .console, .gateway].contains(context.family)
        {
            return HTMLPage.notFound(refusal, signInAt: "\(server.contextPath)/XUI/").response(at: server)
        }
        return try refusal.response(
            for: context, request.method, at: server, version: isVersioned ? context.newestVersion : nil)
    }

    /// Returns true for an error about an address that no route serves for this client, or about a realm that does not exist.
    ///
    /// The router reports an unknown address with an `HTTPError`, and so does middleware that hides an address from a client.
    /// Routes report with other errors that they do not have what the client asks for.
    private func isAboutAddress(_ error: any Error, _ context: AppRequestContext) -> Bool {
        error is HTTPError || ([.json, .oauth2].contains(context.family) && !server.has(context.realm))
    }

    private func apiError(_ error: any Error, _ context: AppRequestContext) -> APIError {
        switch error {
        case let refusal as APIError:
            if let reason = refusal.reason {
                server.logger.log(level: refusal.logLevel, "login failed", metadata: ["reason": "\(reason)"])
            }
            return refusal
        case let refusal as OAuthErrorResponse: return APIError(refusal.status, refusal.message)
        case let error as FaultError: return APIError(.badRequest, "\(error)")
        case let error as StoreError:
            server.logger.error("the state failed", metadata: ["code": "\(error.code.rawValue)", "reason": "\(error)"])
            return .stateFailed
        case let error as HTTPError where error.status == .notFound:
            let isPage = context.family == .pages || context.family == .console
            return isPage ? APIError(.notFound, "There is no such page.") : .resourceNotFound
        default:
            server.logger.error("a request could not be answered", metadata: ["error": "\(type(of: error))"])
            return APIError(.internalServerError, "The request could not be answered.")
        }
    }
}

extension APIError {
    /// Builds the response in the format of the request's address.
    /// - Parameters:
    ///   - context: The request's context, which contains the kind of its address.
    ///   - method: The method of the request.
    ///   - server: The server, whose context path and issuer a page contains.
    ///   - version: The version of the resource, if one was negotiated.
    /// - Returns: A response in JSON, HTML or the XML of SNS.
    /// - Throws: `EncodingError` when the JSON cannot be encoded.
    func response(
        for context: AppRequestContext, _ method: HTTPRequest.Method, at server: ServerContext, version: APIVersion? = nil
    ) throws -> Response {
        switch context.family {
        case .oauth2: try OAuthErrorResponse(self).response
        case .pages, .console: page(again: nil).response(at: server)
        // Servers send it forms and read XML; devices read their inbox in JSON.
        case .gateway where method == .post:
            Response(SNSError(status: status.code, message: message).response, headers: headers)
        case .json, .configuration, .health, .admin, .gateway, .none: try JSONReply.make(self, version: version)
        }
    }
}

extension AppRequestContext {
    /// The newest version of the versioned resource that the request is for.
    fileprivate var newestVersion: APIVersion? {
        configuration.map { ConfigurationController.version(of: $0.resource) } ?? route?.newestVersion
    }
}

extension Route {
    /// The newest version of a versioned resource.
    fileprivate var newestVersion: APIVersion? {
        switch self {
        case .authenticate: AuthenticateController.version
        case .sessions, .session: SessionsController.versions.first
        case .serverInfo: ServerInfoController.version
        case .users: UsersController.versions.first
        case .secondFactorDevices, .secondFactorDevice, .profileDevices, .profileDevice, .pushDevices, .pushDevice:
            UserDevicesController.version
        case .pushMessage: PushMessageController.version
        default: nil
        }
    }
}
