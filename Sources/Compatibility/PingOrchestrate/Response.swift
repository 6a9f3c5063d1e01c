public import Foundation
package import SignetNetwork

/// A response over HTTP.
public struct HttpResponse: Response {
    let content: HTTPResponse
    let url: String

    /// Creates a response from one of the engine.
    package init(_ response: HTTPResponse, to url: String) {
        content = response
        self.url = url
    }

    /// The content.
    public var data: Data { Data(content.body) }

    /// Returns the content as text.
    public func body() -> String { String(decoding: content.body, as: UTF8.self) }

    /// Returns the HTTP status.
    public func status() -> Int { content.status }

    /// Returns the value of a header field.
    public func header(name: String) -> String? { content.headers[name] }
}
