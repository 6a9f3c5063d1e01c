import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SignetCore

extension Request {
    /// Returns the value of a header by its lowercase name.
    ///
    /// If the header occurs more than once, the first value is returned, as in AM.
    func header(_ name: String) -> String? {
        headers.first { $0.name.canonicalName == name }?.value
    }

    /// Returns a query parameter, decoded as a form field: `+` is a space (protocol/journey.md section 8.2).
    ///
    /// If it occurs more than once, the first value is returned.
    func query(_ name: String) -> String? { uri.query.flatMap { FormCoding.value(of: name, in: $0) } }

    /// Returns true when a query parameter is `true` in any case, as in AM.
    func flag(_ name: String) -> Bool { query(name)?.lowercased() == "true" }

    /// Returns the action that the query names (`_action`).
    /// - Throws: ``APIError/badRequest`` without a name; ``APIError/unsupportedAction`` for an unknown one.
    func action<Action: RawRepresentable<String>>() throws(APIError) -> Action {
        guard let name = query("_action"), !name.isEmpty else { throw .badRequest }
        guard let action = Action(rawValue: name) else { throw .unsupportedAction }
        return action
    }

    /// True when the response is to be a page: the request accepts `text/html`, and is one of a browser that opens an address or
    /// sends a form.
    ///
    /// `text/html` alone doesn't prove a browser: Java's `HttpURLConnection` sends it with every request of a program. Browsers
    /// also accept `application/xhtml+xml`, and `Sec-Fetch-Mode` of newer ones is `navigate` (W3C Fetch Metadata).
    var acceptsHTML: Bool {
        accepts("text/html") && (accepts("application/xhtml+xml") || header("sec-fetch-mode") == "navigate")
    }

    /// Returns true when `Accept` names a media type, in lowercase, and doesn't exclude it.
    private func accepts(_ type: String) -> Bool {
        headers[values: .accept].contains { value in
            value.lowercased().split(separator: ",").contains { range in
                let parts = range.split(separator: ";").map { $0.trimming(" \t") }
                // A weight of zero excludes the type (RFC 9110 section 12.4.2).
                let isExcluded = parts.dropFirst().contains {
                    $0.hasPrefix("q=0") && $0.dropFirst(3).allSatisfy { ".0".contains($0) }
                }
                return parts.first == type[...] && !isExcluded
            }
        }
    }

    /// True when the content type is `application/json`; a `charset` must be UTF-8.
    var saysJSON: Bool {
        let parts = (header("content-type") ?? "").lowercased().split(separator: ";").map { $0.trimming(" \t") }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0.dropFirst(8).trimming("\"") == "utf-8" }
    }

    /// Reads the whole body.
    func bytes(_ context: AppRequestContext) async throws -> [UInt8] {
        do {
            return Array(try await body.collect(upTo: context.maxUploadSize).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw APIError.tooLarge(context.maxUploadSize)
        } catch is BodyTooSlow {
            throw APIError(.requestTimeout, "The request's body took too long.", headers: [.connection: "close"])
        } catch let error where !(error is CancellationError || error is HTTPParserError) {
            // The client has disconnected.
            throw APIError(.badRequest, "The request's body could not be read to its end.")
        }
    }

    /// Reads the body as a JSON object.
    ///
    /// A missing or empty body is an empty object, because SDKs send no body, zero bytes, or `{}` when they have no data.
    func json(_ context: AppRequestContext) async throws -> JSONValue {
        let bytes = try await bytes(context)
        guard saysJSON || (bytes.isEmpty && header("content-type") == nil) else {
            throw APIError(.unsupportedMediaType, "The request's body is not application/json.")
        }
        guard !bytes.isEmpty else { return .object([:]) }
        guard let json = try? JSON.value(of: bytes), json.object != nil else {
            throw APIError(.badRequest, "The request's body is not a JSON object.")
        }
        context.log.update(json: json)
        return json
    }
}
