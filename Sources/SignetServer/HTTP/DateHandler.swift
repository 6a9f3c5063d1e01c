import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import SignetCore

/// Sets each response's `Date` from the server's adjustable clock.
///
/// Clients use `Date` to check the lifetime of tokens, so it must be the clock that tokens are issued by. Hummingbird would write
/// the machine's time.
final class DateHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: AdjustableClock
    /// The last written second and its text: a connection has many responses in a second.
    private var last: (second: Double, text: String)?

    init(_ clock: AdjustableClock) { self.clock = clock }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        head.headerFields[.date] = text(of: clock.now)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func text(of date: Date) -> String {
        let second = date.timeIntervalSince1970.rounded(.down)
        if let last, last.second == second { return last.text }
        let text = HTTPDate.text(of: date)
        last = (second, text)
        return text
    }
}
