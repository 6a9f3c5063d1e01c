import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SignetCore

/// Applies faults to responses.
///
/// It is the only layer between the connection and the controllers that knows of faults. ``FaultedDelivery`` applies the faults
/// of messages on push streams.
struct FaultMiddleware: RouterMiddleware {
    let server: ServerContext

    func handle(_ request: Request, context: AppRequestContext, next: NextResponder) async throws -> Response {
        guard !server.faults.isIdle, !context.isForTesters else { return try await next(request, context) }
        // A fault also applies to an error response, so errors become responses here.
        let errors = ErrorMiddleware(server: server)
        return try await FaultInjector(server: server, context: context).respond(to: request) {
            try await errors.handle($0, context: context, next: next)
        }
    }
}

/// The faults of one request.
private struct FaultInjector: Sendable {
    let server: ServerContext
    let context: AppRequestContext

    /// Answers a request, with the faults that apply to it.
    /// - Parameters:
    ///   - request: The request to answer.
    ///   - handle: The closure that answers the request, also with error responses.
    /// - Returns: The response of `handle`, changed by faults, or the response of a fault that replaces it.
    /// - Throws: The errors of `handle`; an error when the request's body or the server's state cannot be read;
    ///   `CancellationError` during a latency.
    func respond(to request: Request, handle: (Request) async throws -> Response) async throws -> Response {
        var request = request
        let entries = try await meant(for: &request)
        for entry in entries {
            guard case .latency(let duration) = entry.rule.kind, take(entry) else { continue }
            try await Task.sleep(for: duration)
        }
        if let tampered = entries.first(where: { !$0.rule.executesRequest && take($0) }) {
            let answer = Response(status: .ok)
            // A fault that prevents the request replaces the whole response.
            return try await tamper(answer, tampered.rule, request.method) ?? answer
        }
        var answer = try await handle(request)
        for entry in entries where entry.rule.executesRequest && !entry.rule.kind.isLatency {
            guard server.faults.reserve(entry) else { continue }
            if let tampered = try await tamper(answer, entry.rule, request.method) {
                answer = tampered
                server.faults.confirmUse(entry)
                context.log.update { $0.faults.append(entry.rule.name) }
            } else {
                server.faults.restoreUse(entry)
            }
        }
        return answer
    }

    private func take(_ entry: FaultTable.Entry) -> Bool {
        guard server.faults.take(entry) else { return false }
        context.log.update { $0.faults.append(entry.rule.name) }
        return true
    }

    // MARK: Matching

    private func meant(for request: inout Request) async throws -> [FaultTable.Entry] {
        let entries = server.faults.candidates { !$0.kind.isOfDeliveries && $0.route.matches(context.route, context.path) }
            .filter { $0.rule.kind.home == nil || $0.rule.kind.home == context.route }
            .filter { DPoPFault.applies($0.rule.kind, to: request, at: context.route) }
        let clients = entries.compactMap(\.rule.client)
        guard !clients.isEmpty else { return entries }
        let client = try await client(of: &request, for: clients)
        context.log.update { $0.client = client }
        return entries.filter { $0.rule.client?.matches(client) ?? true }
    }

    /// Identifies the client, as far as `matches` need it.
    ///
    /// A body that is read for this is put back.
    private func client(of request: inout Request, for matches: [ClientMatch]) async throws -> RequestLogEntry.Client {
        var client = RequestLogEntry.Client()
        client.address = context.client.address
        client.userAgent = request.header("user-agent")
        let kinds = Set(matches.map(\.kind))
        if kinds.contains(.oauth) { client.oauth = try await oauthClient(of: &request) }
        if kinds.contains(.device) { client.device = try await device(of: &request) }
        return client
    }

    /// Reads the body and puts it back.
    private func collect(_ request: inout Request) async throws -> [UInt8] {
        let bytes = try await request.bytes(context)
        request.body = RequestBody(buffer: ByteBuffer(bytes: bytes))
        return bytes
    }

    private func oauthClient(of request: inout Request) async throws -> String? {
        if let id = request.basicClient ?? request.query("client_id") { return id }
        guard request.method == .post else { return nil }
        return FormCoding.value(of: "client_id", in: String(decoding: try await collect(&request), as: UTF8.self))
    }

    /// Returns the mechanism that a device claims to be.
    ///
    /// The claim isn't verified here, because a fault grants no access.
    private func device(of request: inout Request) async throws -> String? {
        switch context.route {
        case .pushStream: return request.credentials(PushStreamProof.scheme).flatMap(Self.mechanismUID)
        case .pushMessage:
            let bytes = try await collect(&request)
            guard let body = try? JSON.decode(PushRequestBody.self, from: bytes) else { return nil }
            if let named = Self.mechanismUID(in: body.jwt) { return named }
            return try await server.store.read { tx in try tx.pushes.entry(body.messageId)?.mechanismUID }
        default: return nil
        }
    }

    private static func mechanismUID(in jwt: String) -> String? {
        guard let payload = try? CompactJWS(jwt).unverifiedPayload() else { return nil }
        return (try? JSON.value(of: payload))?["mechanismUid"]?.string
    }
}

// MARK: - Applying faults

extension FaultInjector {
    /// Applies a fault to a response.
    ///
    /// Returns nil when the fault doesn't apply to this response.
    private func tamper(_ answer: Response, _ rule: FaultRule, _ method: HTTPRequest.Method) async throws -> Response? {
        switch rule.kind {
        case .status(let status, let retryAfter): return try failure(status, retryAfter, method)
        case .html: return Self.portal
        case .cut(nil): return await lost()
        case .cut(let bytes?): return Self.cut(answer, after: bytes)
        case .truncated(let bytes): return try await Self.truncated(answer, to: bytes)
        case .wrongState: return Self.changed(answer, "state") { _ in RandomID.token() }
        case .expiredCode: return try await expired(answer)
        case .wrongNonce: return try await withIDToken(answer) { try await otherNonce($0) }
        case .wrongSignature: return try await withIDToken(answer) { Self.otherSignature($0) }
        case .wrongIssuer, .wrongAudience, .expiredIDToken, .unknownKey, .algNone:
            return try await withIDToken(answer) { try await token($0, with: rule.kind) }
        case .lostRefresh: return isRefresh(answer) ? await lost() : nil
        case .slowBody(let duration): return Self.slowed(answer, to: duration)
        case .dpopNonceRotates, .dpopReplayed: return try await DPoPFault.response(rule.kind, at: context.route, server)
        case .latency, .replayedPush, .duplicateDelivery, .reordering: return nil
        }
    }

    private func failure(_ code: Int, _ retryAfter: Int?, _ method: HTTPRequest.Method) throws -> Response {
        // Use the standard reason phrase, like every other error.
        let status = HTTPResponse.Status(code: code, reasonPhrase: HTTPResponseStatus(statusCode: code).reasonPhrase)
        var headers: HTTPFields = [:]
        if let retryAfter { headers.set("Retry-After", String(retryAfter)) }
        return try APIError(status, "A fault is enabled.", headers: headers).response(for: context, method, at: server)
    }

    private static var portal: Response {
        let text =
            "<!DOCTYPE html><html><head><title>Sign in to the network</title></head><body>"
            + "<h1>Sign in to the network</h1><p>Accept the terms to go on.</p></body></html>\n"
        return Response(Array(text.utf8), type: "text/html; charset=UTF-8")
    }

    /// Closes the connection, so that the client gets no response.
    private func lost() async -> Response {
        context.log.update { $0.isCut = true }
        if context.client.address != nil { try? await context.client.channel.close() }
        return Response(status: .ok, body: ResponseBody { _ in throw ConnectionCut() })
    }

    /// Returns true for the response to a refresh token that was exchanged.
    private func isRefresh(_ response: Response) -> Bool {
        let grant = context.log.all.parameters.first { $0.name == "grant_type" }?.value
        return response.status == .ok && grant == RegisteredClient.GrantType.refreshToken.rawValue
    }

    private static func slowed(_ response: Response, to duration: Duration) -> Response? {
        guard response.body.contentLength != 0 else { return nil }
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(SlowWriter(parent: writer, duration: duration, length: body.contentLength))
        }
        return response
    }

    private static func cut(_ response: Response, after bytes: Int) -> Response {
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(CuttingWriter(parent: writer, rest: bytes))
        }
        return response
    }

    private static func truncated(_ response: Response, to bytes: Int?) async throws -> Response? {
        guard let text = try await content(of: response), !text.isEmpty else { return nil }
        return replacing(text.prefix(bytes ?? text.count / 2), in: response)
    }

    /// Returns the bytes of a body of known length; nil for a stream.
    private static func content(of response: Response) async throws -> [UInt8]? {
        guard response.body.contentLength != nil else { return nil }
        let content = CollectingWriter.Content()
        try await response.body.write(CollectingWriter(content: content))
        return content.bytes.withLock { $0 }
    }

    private static func replacing(_ bytes: some Collection<UInt8>, in response: Response) -> Response {
        var response = response
        response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        return response
    }

    // MARK: Codes

    /// Changes a query parameter of the `Location` header.
    ///
    /// Returns nil when the parameter is missing.
    private static func changed(_ response: Response, _ name: String, _ change: (String) -> String) -> Response? {
        guard let location = response.headers[.location], let start = location.firstIndex(of: "?") else { return nil }
        let end = location.firstIndex(of: "#") ?? location.endIndex
        guard start < end else { return nil }
        var isFound = false
        let fields = location[location.index(after: start)..<end].split(separator: "&").map { field -> String in
            guard field.hasPrefix("\(name)=") else { return String(field) }
            isFound = true
            return "\(name)=\(change(String(field.dropFirst(name.count + 1))).percentEncoded())"
        }
        guard isFound else { return nil }
        var response = response
        response.headers[.location] = location[...start] + fields.joined(separator: "&") + location[end...]
        return response
    }

    private func expired(_ response: Response) async throws -> Response? {
        guard let location = response.headers[.location], let code = FormCoding.query(of: location)["code"] else { return nil }
        let wasGood = try await server.store.write { tx in try tx.tokens.expire(code: code) }
        return wasGood ? response : nil
    }

    // MARK: id_tokens

    private func withIDToken(_ response: Response, _ change: (String) async throws -> String?) async throws -> Response? {
        guard let text = try await Self.content(of: response), case .object(var members)? = try? JSON.value(of: text),
            let token = members["id_token"]?.string, let changed = try await change(token)
        else { return nil }
        members["id_token"] = .string(changed)
        return Self.replacing(JSON.encode(.object(members)), in: response)
    }

    private func otherNonce(_ token: String) async throws -> String? {
        guard var claims = Self.claims(of: token) else { return nil }
        claims["nonce"] = .string(RandomID.token())
        return try await server.signer.sign(claims, with: Self.algorithm(of: token))
    }

    /// The time by which an expired token is older, in seconds: two days.
    ///
    /// Clients may tolerate a clock that differs from theirs by hours.
    private static let age: Int64 = 2 * 86_400

    /// Returns an id_token with the mistake of a fault.
    private func token(_ token: String, with kind: FaultKind) async throws -> String? {
        guard var claims = Self.claims(of: token) else { return nil }
        switch kind {
        case .wrongIssuer: claims["iss"] = .string("https://issuer.invalid/oauth2")
        case .wrongAudience: claims["aud"] = .string("another-client")
        case .expiredIDToken:
            for name in ["iat", "exp", "auth_time"] {
                if case .integer(let time)? = claims[name] { claims[name] = .integer(time - Self.age) }
            }
        case .unknownKey: return try await server.signer.signWithUnknownKey(claims, Self.algorithm(of: token))
        case .algNone:
            let parts = [["alg": .string("none"), "typ": .string(TokenSigner.plainType)], claims]
            return parts.map { Base64.encode(JSON.encode(JSONValue.object($0)), as: .url) }.joined(separator: ".") + "."
        default: return nil
        }
        return try await server.signer.sign(claims, with: Self.algorithm(of: token))
    }

    private static func algorithm(of token: String) -> JWSAlgorithm {
        SignedToken(token)?.algorithm.flatMap(JWSAlgorithm.init) ?? .rs256
    }

    private static func claims(of token: String) -> [String: JSONValue]? {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let payload = try? Base64.decode(String(parts[1])) else { return nil }
        return try? JSON.value(of: payload).object
    }

    private static func otherSignature(_ token: String) -> String? {
        guard let dot = token.lastIndex(of: "."), let signature = try? Base64.decode(String(token[token.index(after: dot)...])),
            !signature.isEmpty
        else { return nil }
        return token[...dot] + Base64.encode([signature[0] ^ 1] + signature.dropFirst(), as: .url)
    }
}

extension FaultKind {
    fileprivate var isLatency: Bool { if case .latency = self { true } else { false } }
}

/// The error that closes a connection in the middle of a response.
struct ConnectionCut: Error {}

/// Writes a limited number of bytes of a body, and then closes the connection.
private struct CuttingWriter: ResponseBodyWriter {
    var parent: any ResponseBodyWriter
    var rest: Int

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        let part = buffer.readSlice(length: min(rest, buffer.readableBytes))
        rest -= part?.readableBytes ?? 0
        if let part, part.readableBytes > 0 { try await parent.write(part) }
        if buffer.readableBytes > 0 || rest == 0 { throw ConnectionCut() }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { throw ConnectionCut() }
}

/// Writes a body in parts, with a pause before each of them.
private struct SlowWriter: ResponseBodyWriter {
    /// The number of parts into which the body is divided.
    private static let parts = 10

    var parent: any ResponseBodyWriter
    /// The time in which the whole body is written; for a stream, the time for each of its buffers.
    let duration: Duration
    /// The length of the whole body in bytes; nil for a stream, which has no end that is known.
    let length: Int?

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        let whole = max(1, length ?? buffer.readableBytes)
        let size = (whole + Self.parts - 1) / Self.parts
        while let part = buffer.readSlice(length: min(size, buffer.readableBytes)), part.readableBytes > 0 {
            try await Task.sleep(for: duration * part.readableBytes / whole)
            try await parent.write(part)
        }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await parent.finish(trailingHeaders) }
}

/// Collects a body in memory.
private struct CollectingWriter: ResponseBodyWriter {
    final class Content: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    let content: Content

    mutating func write(_ buffer: ByteBuffer) async throws { content.bytes.withLock { $0 += buffer.readableBytesView } }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
