import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SignetCore

/// What the resources read of a request.
struct RequestReader: Sendable {
    let request: Request
    let largestBody: Int
    let telemetry: Telemetry
    /// What the journal will tell of the request.
    var notes = RequestLogContext()

    /// The value of a header by its name in lower case; of several the first one, as AM does.
    func header(_ name: String) -> String? {
        request.headers.first { $0.name.canonicalName == name }?.value
    }

    /// A parameter of the query, decoded; of several the first one.
    func query(_ name: String) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init)
    }

    /// Whether a parameter of the query says `true`.
    func flag(_ name: String) -> Bool { query(name) == "true" }

    func require(_ methods: HTTPRequest.Method...) throws(APIError) {
        guard methods.contains(request.method) else { throw .methodNotAllowed(methods) }
    }

    /// `application/json`, in UTF-8 if the charset is named.
    var saysJSON: Bool {
        let parts = (header("content-type") ?? "").lowercased().split(separator: ";").map { $0.trimming(" \t") }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0.dropFirst(8).trimming("\"") == "utf-8" }
    }

    /// The whole body.
    func body() async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: largestBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            telemetry.count([.refused(.bodyTooLarge)])
            throw APIError.tooLarge(largestBody)
        } catch is BodyTooSlow {
            throw APIError(.requestTimeout, "The request's body took too long.", headers: [.connection: "close"])
        } catch let error where !(error is CancellationError || error is HTTPParserError) {
            // The client has gone.
            throw APIError(.badRequest, "The request's body could not be read to its end.")
        }
    }

    /// The body as a JSON object, empty where there is no body: SDKs send nothing, no bytes, or `{}` when they have nothing to say.
    func json() async throws -> JSONValue {
        let bytes = try await body()
        guard saysJSON || (bytes.isEmpty && header("content-type") == nil) else {
            throw APIError(.unsupportedMediaType, "The request's body is not application/json.")
        }
        guard !bytes.isEmpty else { return .object([:]) }
        guard let json = try? JSON.value(of: bytes), json.object != nil else {
            throw APIError(.badRequest, "The request's body is not a JSON object.")
        }
        notes.note(json: json)
        return json
    }
}
